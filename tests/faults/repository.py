"""A repository for a stage to run in: params.yaml at a scale of seconds, images, and what comes before each stage."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from ruamel.yaml import YAML

from tests.faults.cases import ROOT, Run, Stages
from tests.settings.documents import GONE, changed, renamed

__all__ = ["GONE", "NOWHERE", "SMOKE", "TINY", "after", "changed", "lay_down", "meant", "renamed", "stage"]

NOWHERE = "http://127.0.0.1:9/cifar-10-python.tar.gz"


def _shipped() -> dict:
    document = YAML(typ="safe").load(ROOT / "params.yaml")
    return document | {"scale": "smoke", "scales": {"smoke": document["scales"]["smoke"]}}


SMOKE = changed(_shipped(), "images/url", NOWHERE)
"""The shipped params.yaml with the scale smoke alone, and no server to fetch images from."""


def _tiny() -> dict:
    """The same with few small networks and samples, so that each stage takes seconds."""
    document = changed(SMOKE, "scales/smoke/nads", {"lenet": 4, "logreg": 4, "mlp_200_50": 4})
    lines = {
        "linear_pairs": {"lenet": {"indices": [1, 9]}},
        "image_pairs": {"lenet": {"indices": [1]}},
        "fourier": {"logreg": {"step": 16}},
        "convergence": {"lenet": {"step": 16}},
        "nad_sweep": {"lenet": {"indices": [0, 10]}},
        "poison": {"lenet": {"indices": [0], "mixture_indices": []}},
        "flip": {"lenet": {}},
    }
    for name, networks in lines.items():
        document["scales"]["smoke"][name] |= {"train_samples": 64, "test_samples": 32, "networks": networks}
        document["scales"]["smoke"][name]["training"]["epochs"] = 1
    return document


TINY = _tiny()


def lay_down(folder: Path, document: dict | str | bytes = TINY) -> Path:
    """Write a document, its text or its bytes as params.yaml of `folder`."""
    if isinstance(document, dict):
        # JSON is YAML in which every text stands in quotes.
        document = json.dumps(document, indent=1)
    text = document.encode("utf-8", "surrogatepass") if isinstance(document, str) else document
    (folder / "params.yaml").write_bytes(text)
    return folder


def stage(stages: Stages, name: str, folder: Path, *words: str, **options: object) -> Run:
    """A stage in a repository with a store of its own."""
    options = {"DVC_ROOT": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "limit": 200} | options
    return stages.run(name, *words, folder=folder, **options)


def after(stages: Stages, title: str, document: dict, order: Iterable[Sequence[str]]) -> Path:
    """A repository of a document in which stages have run, each given as its name and its arguments."""
    folder = Path(stages.folder.name) / title
    folder.mkdir()
    lay_down(folder, document)
    for name, *words in order:
        assert (ended := stage(stages, name, folder, *words)).code == 0, (name, words, ended.err)
    return folder


def _written_out(indices: list) -> list[int]:
    """A list of indices with its ranges [first, last, step] written out."""
    found = []
    for item in indices:
        found += range(item[0], item[1] + 1, item[2]) if isinstance(item, list) else [item]
    return found


def meant(document: dict, folder: Path) -> bool:
    """Whether data/plan holds what a document means, worked out here without the pipeline's own rules."""
    plan = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (folder / "data/plan").glob("*.json")}
    scale, found = document["scales"][document["scale"]], []

    def same(said: object, asked: object) -> None:
        found.append(said == asked and isinstance(said, bool) == isinstance(asked, bool))

    for key in ("path", "url", "fallback"):
        same(plan["images"][key], document["images"][key])
    for key in ("device", "reuse"):
        same(plan["machine"][key], document[key])
    for key, value in document["estimator"].items():
        same(plan["nads"]["estimator"][key], value)
    same(plan["nads"]["seed"], document["seed"])
    same(sorted(plan["nads"]["members"]), sorted(scale["nads"]))
    for name, source in scale["nads"].items():
        for key, value in ({"networks": source} if isinstance(source, int) else source).items():
            same(plan["nads"]["members"][name]["source"][key], value)
    for name in set(scale) - {"precision", "nads"}:
        block, asked = scale[name], plan[name]
        same(asked["seeds"], list(range(document["seed"], document["seed"] + block["seeds"])))
        for key in ("train_samples", "test_samples"):
            same(asked[key], block[key])
        own = document.get(name) or {key: document[key] for key in ("eps1", "eps2", "sigma")}
        for key, value in own.items() if name != "flip" else ():
            same(asked["settings"][key], value)
        same(sorted(asked["members"]), sorted(block["networks"]))
        for architecture, line in block["networks"].items():
            member = asked["members"][architecture]
            for key, value in (block["training"] | line).items():
                if key in member["training"]:
                    same(member["training"][key], value)
                elif key == "seeds":
                    same(member[key], value)
                else:
                    same(member["grid"][key], _written_out(value) if isinstance(value, list) else value)
            same(member["training"]["precision"], scale["precision"])
            for key, value in document["architectures"][architecture].items():
                if key != "network":
                    same(member["specification"][key], value)
    return all(found)
