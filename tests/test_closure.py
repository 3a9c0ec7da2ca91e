"""The digest of the code that decides a result: it changes with what the result depends on, and with nothing else."""

import importlib
import shutil
import sys

import pytest
from structure import ROOT

from pipeline import experiments, networks
from pipeline.grid import jobs
from pipeline.machine import closure
from pipeline.nads import progress
from pipeline.nads.covariance import Covariance


def digests(tree, parsed=None):
    """The code of every kind of cell, by (experiment, network), and of every estimate, by ('nads', network), in a copy.

    parsed: modules that are known already, as `closure.Code.sources`; returned too.
    """
    code = closure.Code([str(tree), *sys.path])
    code.sources |= parsed or {}
    found = {}
    for place in networks.NETWORKS.values():
        network = place.rpartition(":")[2]
        for name in experiments.names():
            found[name, network] = code.reached(
                *map(closure.root, jobs.decisive(jobs.trained, experiments.find(name), place))
            )
        found["nads", network] = code.reached(*map(closure.root, progress.decisive(place, Covariance((1, 4, 4)))))
    return {key: (sorted(texts.values()), packages) for key, (texts, packages) in found.items()}, code.sources


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package, and its digests."""
    tree = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "pipeline", tree / "pipeline", ignore=shutil.ignore_patterns("__pycache__"))
    return tree, *digests(tree)


CLASSES = [place.rpartition(":")[2] for place in networks.NETWORKS.values()]


def cells(*names):
    """The cells of some experiments, for all networks."""
    return {(name, network) for name in names for network in CLASSES}


def of(*networks):
    """The cells and the estimates of some networks."""
    return {(name, network) for name in (*experiments.names(), "nads") for network in networks}


NAMED = cells(*experiments.names())
EDITS = {
    "a function that a data set calls": (
        "experiments/poison.py",
        'y = torch.as_tensor(draw[f"{split}_labels"]).long()',
        'y = torch.as_tensor(draw[f"{split}_labels"]).long() * 2',
        cells("poison"),
    ),
    "the carriers left out": (
        "experiments/poison.py",
        'return pictures.poisoned(x, y, directions[0][cell["index"] :], cell["size"])',
        "return x",
        cells("poison"),
    ),
    "a helper two calls away": (
        "datasets/pictures.py",
        "return label // 6, label % 3,",
        "return label // 6, (label + 1) % 3,",
        cells("poison"),
    ),
    "D(v)": (
        "datasets/separable.py",
        "torch.outer(eps * y -",
        "torch.outer(2 * eps * y -",
        NAMED - cells("poison", "flip"),
    ),
    "a label": ("report/labels.py", ': "VGG-11"', ': "VGG 11"', set()),
    "an error's sentence": ("networks/vgg.py", "side must be a multiple of 32", "side must be 32, 64, …", set()),
    "a sentence on the way": ("training/single.py", "a smaller lr helps", "try a smaller lr", set()),
    "an entry in the table of networks": (
        "networks/__init__.py",
        '"mlp": "',
        '"two_layers": "pipeline.networks.mlp:Two", "mlp": "',
        set(),
    ),
    "what another stage calls": (
        "datasets/pictures.py",
        "made = np.empty((len(wanted)",
        "made = np.ones((len(wanted)",
        set(),
    ),
    "a docstring": ("training/single.py", '"""One network\'s training', '"""How one network trains', set()),
    "a comment": ("training/single.py", "# Losses stay on the device", "# They stay there", set()),
    "an annotation": ("training/single.py", "how: Training, seed: int) -> Outcome", "how, seed: int)", set()),
    "a figure": ("report/style.py", 'ACCURACY = "cividis"', 'ACCURACY = "viridis"', set()),
    "the store": ("machine/store.py", "os.chmod(temporary, mode)", "os.chmod(temporary, 0o640)", set()),
    "a constant of training": ("training/single.py", "BATCH = 128", "BATCH = 64", NAMED),
    "one network": ("networks/lenet.py", "self.fc2 = nn.Linear(120, 84)", "self.fc2 = nn.Linear(120, 85)", of("LeNet")),
    "a part of one network": (
        "networks/densenet.py",
        "4 * growth, growth, 3,",
        "4 * growth, growth, 1,",
        of("DenseNet121"),
    ),
    "the derivative": ("nads/derivative.py", "/ (2 * step))", "/ step)", cells("nads")),
    "how samples are averaged": (
        "nads/covariance.py",
        "self.sums[self.count % len(self.sums)]",
        "self.sums[0]",
        cells("nads"),
    ),
    "where sums begin": (
        "nads/covariance.py",
        "PARTS = 8",
        "PARTS = 4",
        cells("nads"),
    ),
    "what is read out of an estimate": ("nads/spectrum.py", "EQUAL_ENTRIES = 1e-9", "EQUAL_ENTRIES = 1e-8", set()),
    "seeds": ("project/seeds.py", '.digest()[:8], "big")', '.digest()[:8], "little")', NAMED | cells("nads")),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_changes_the_keys_of_what_depends_on_it_and_no_other(copy, name):
    tree, before, parsed = copy
    file, old, new, expected = EDITS[name]
    path = tree / "pipeline" / file
    text = path.read_text()
    assert text.count(old) == 1, "the edit is made exactly once"
    try:
        path.write_text(text.replace(old, new))
        changed = f"pipeline.{file.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"
        after, _ = digests(tree, {name: source for name, source in parsed.items() if name != changed})
    finally:
        path.write_text(text)
    assert {key for key in before if before[key] != after[key]} == expected


def test_what_is_installed_counts_by_its_version(copy):
    _, before, _ = copy
    _, packages = before["linear_pairs", "LeNet"]
    assert {"torch", "numpy"} <= packages and "pandas" not in packages


def module(folder, name, text):
    (folder / f"{name}.py").write_text(text)


def reached(folder, root):
    """Names of the definitions that are reached in modules of `folder`."""
    texts, _ = closure.Code([str(folder), *sys.path]).reached(root)
    return {key.removesuffix(":0") for key in texts}


def test_names_are_looked_up_as_python_does(tmp_path):
    module(tmp_path, "constants", "A = 1\nB = 2\nTABLE = {'a': A}\n")
    module(
        tmp_path, "helpers", "import constants as c\nfrom constants import B as b\n\ndef half(x):\n    return x / c.A\n"
    )
    module(
        tmp_path,
        "user",
        "import helpers\nfrom helpers import half, b\n\n"
        "def shadowed(b):\n    return b\n\n"
        "def local():\n    from constants import TABLE\n    return TABLE\n\n"
        "def by_module(x):\n    return helpers.half(x)\n\n"
        "def by_name(x, y=half):\n    return [y(b) for b in x]\n\n"
        "def imported_twice():\n    return helpers.b\n\n"
        "def recursive(n):\n    return recursive(n - 1) if n else b\n",
    )
    assert reached(tmp_path, "user:shadowed") == {"user:shadowed"}
    assert reached(tmp_path, "user:local") == {"user:local", "constants:TABLE", "constants:A"}
    assert reached(tmp_path, "user:by_module") == {"user:by_module", "helpers:half", "constants:A"}
    assert reached(tmp_path, "user:by_name") == {"user:by_name", "helpers:half", "constants:A"}
    assert reached(tmp_path, "user:imported_twice") == {"user:imported_twice", "constants:B"}
    assert reached(tmp_path, "user:recursive") == {"user:recursive", "constants:B"}
    with pytest.raises(LookupError, match="user does not define nothing"):
        reached(tmp_path, "user:nothing")


def test_a_member_reaches_what_it_uses_of_its_class_and_of_the_classes_below(tmp_path):
    module(
        tmp_path,
        "classes",
        "STEP = 1\n\ndef outer():\n    return STEP\n\n"
        "class Base:\n    size = 1\n\n"
        "    def run(self):\n        return self.size + self.part()\n\n"
        "    def part(self):\n        return 0\n\n"
        "    def other(self):\n        return 5\n\n"
        "class Below(Base):\n    def part(self):\n        return super().part() + outer()\n\n"
        "class Made(Base):\n    def __init__(self):\n        self.width = STEP\n\n"
        "    def part(self):\n        return self.width\n\n"
        "class Given(Base):\n    def part(self):\n        return outer and print(self)\n",
    )
    found = lambda member: {key.removeprefix("classes:") for key in reached(tmp_path, f"classes:{member}")}
    assert found("Base.run") == {"Base.run", "Base.size", "Base.part"}
    assert found("Below.run") == {"Base.run", "Base.size", "Below.part", "Base.part", "outer", "STEP"}
    assert found("Made.run") == {"Base.run", "Base.size", "Made.part", "Made.__init__", "STEP"}
    assert {"Given", "Base", "outer"} <= found("Given.run"), "an object that is handed on may be used in any way"


def test_a_network_may_be_named_where_it_is_imported(tmp_path):
    module(tmp_path, "family", "WIDTH = 3\n\nclass Net:\n    width = WIDTH\n")
    module(
        tmp_path, "mine", "import family\nfrom json import loads as net\nfrom family import Net\nfamily.WIDTH += 1\n"
    )
    assert reached(tmp_path, "mine:Net") == {"family:Net", "family:WIDTH", "mine"}, "and what its import does"
    assert reached(tmp_path, "mine:net") == {"family:WIDTH", "mine"}
    assert closure.Code([str(tmp_path), *sys.path]).reached("mine:net")[1] == {"json"}
    module(tmp_path, "astray", "from family import Other\n")
    for name in ("Other", "Net", "nothing"):
        with pytest.raises(LookupError, match=f"astray does not define {name}"):
            reached(tmp_path, f"astray:{name}")


@pytest.mark.parametrize("text", ["import no_such_package\n", "import sys\nsys.exit(0)\n", "1 / 0\n"])
def test_a_package_that_cannot_be_imported_has_no_version(text, tmp_path, monkeypatch):
    """A network may do without it, and is not what ends the stage that asks for its key."""
    (tmp_path / "packages").mkdir()
    module(tmp_path / "packages", "optional", text)
    monkeypatch.syspath_prepend(tmp_path / "packages")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(closure, "INSTALLED", (*closure.INSTALLED, str(tmp_path / "packages")))
    monkeypatch.setattr(closure, "_loaded_code", closure.Code)
    lines = "try:\n    import optional\nexcept BaseException:\n    optional = None\n\ndef net():\n    import optional\n    return optional\n"
    module(tmp_path, "careful", lines)
    found = closure._digest.__wrapped__(("careful:net",))
    module(tmp_path / "packages", "optional", "__version__ = '2'\n")
    importlib.invalidate_caches()
    sys.modules.pop("optional", None)
    assert closure._version("optional") == "2"
    assert closure._digest.__wrapped__(("careful:net",)) != found
    sys.modules.pop("optional", None)


def test_all_of_an_own_module_is_not_imported_unnamed(tmp_path):
    """What `from helpers import *` brings could be edited unseen; of an installed package the version counts."""
    (tmp_path / "helpers.py").write_text("def scale(): return 2\n")
    (tmp_path / "own.py").write_text("from json import *\nfrom helpers import *\n\ndef net(): return scale()\n")
    (tmp_path / "other.py").write_text("from json import *\n\ndef net(): return loads('2')\n")
    code = closure.Code([str(tmp_path), *sys.path])
    with pytest.raises(ValueError, match=r"own.py imports \* from helpers; name what it imports"):
        code.reached("own:net")
    assert set(code.reached("other:net")[0]) == {"other:net:0"}


def test_a_package_that_imports_its_own_modules_is_read_to_the_end(tmp_path):
    (tmp_path / "family").mkdir()
    module(tmp_path / "family", "__init__", "from . import layers\n")
    module(tmp_path / "family", "layers", "from . import sizes\n\ndef net():\n    return sizes.WIDTH\n")
    module(tmp_path / "family", "sizes", "WIDTH = 3\n")
    module(tmp_path, "own", "import family\n\ndef net():\n    return family.layers.net()\n")
    assert reached(tmp_path, "own:net") == {"own:net", "family.layers:net", "family.sizes:WIDTH"}


@pytest.mark.parametrize("place", ["lib", "site-packages", "deep/dist-packages"])
def test_packages_count_by_their_version_wherever_they_are_installed(place, tmp_path):
    """In a folder that PYTHONPATH or a .pth file names: by its name, or by the records that an installer leaves there."""
    folder = tmp_path / place
    for name in ("package", "package-1.0.dist-info"):
        (folder / name).mkdir(parents=True)
    module(folder / "package", "__init__", "from . import inner\nfrom .inner import scale\n")
    module(folder / "package", "inner", "def scale():\n    return 2\n")
    module(folder, "single", "A = 1\n")
    (folder / "package-1.0.dist-info" / "RECORD").write_text(
        "package/__init__.py,sha256=x,1\npackage/inner.py,,\nsingle.py,sha256=x,6\n../../bin/package,,\n"
    )
    module(
        tmp_path,
        "own",
        "import package.inner\nimport single\n\ndef net():\n    return package.inner.scale() * single.A\n",
    )
    module(folder, "beside", "B = 1\n")
    code = closure.Code([str(tmp_path), str(folder), *sys.path])
    texts, packages = code.reached("own:net")
    assert set(texts) == {"own:net:0"} and packages == {"package", "single"}
    if place == "lib":
        assert set(code.reached("beside:B")[0]) == {"beside:B:0"}, "of what stands beside them, each definition counts"


def test_what_a_module_does_when_it_is_imported_counts(tmp_path):
    module(tmp_path, "acting", "import json\n\njson.loads('1')\nA = 1\n\nif __name__ == '__main__':\n    A = 2\n")
    texts, packages = closure.Code([str(tmp_path), *sys.path]).reached("acting:A")
    assert sorted(texts.values()) == ["A = 1", "json.loads('1')"] and packages == {"json"}


def test_functions_methods_and_classes_are_roots():
    assert closure.root(closure.digest) == "pipeline.machine.closure:digest"
    assert closure.root(Covariance((1, 4, 4)).add) == "pipeline.nads.covariance:Covariance.add"
    assert closure.root((Covariance, "add")) == "pipeline.nads.covariance:Covariance.add"
    assert closure.root(Covariance) == "pipeline.nads.covariance:Covariance"
    assert closure.digest(Covariance) != closure.digest(networks.build)
