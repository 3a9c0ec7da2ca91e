"""A small run laid down by hand for the page index.html, with names that are markup, and how tests read the page."""

import dataclasses
import json
from html.parser import HTMLParser

import numpy as np
from hand_overs import ABOUT, nads_of_file
from matplotlib.figure import Figure
from PIL import Image
from test_sections import LENET, lay, lay_plan, results, save

from pipeline import experiments
from pipeline.measures.boundaries import POINTS
from pipeline.nads.estimator import Estimator, Source
from pipeline.nads.plan import NADsPlan, Request
from pipeline.project import artifacts
from pipeline.report.page import Picture, Report, Section, Table
from pipeline.report.site import compare, document

EVIL = "</script><script>alert('a & \"b\"')</script>"
OWN = {"network": f"my_networks:{EVIL}"}
NAMES = ("nads", "nad_sweep", "fourier", "linear_pairs", "flip")


def basis():
    """An orthonormal basis (1024, 1024) of products of cosines: every one is even or odd under the flips of the square."""
    rows, columns = np.meshgrid(np.arange(32), np.arange(32), indexing="ij")
    waves = np.cos(np.pi * (rows + 0.5) * columns / 32)
    waves /= np.linalg.norm(waves, axis=0)
    return np.einsum("ri,cj->ijrc", waves, waves).reshape(1024, 1024)


def lay_every_nads(name, directions, networks):
    values = np.geomspace(1e-6, 1e-10, len(directions))
    save(
        artifacts.NADS / f"{name}.npz",
        **nads_of_file(directions, (1, 32, 32))
        | dict(
            eigenvalues=values,
            standard_errors=values / 10,
            nearby=np.stack([np.arange(len(values)), np.minimum(np.arange(len(values)) + 3, len(values) - 1)], 1),
            error=np.array(0.25),
            networks=np.array(networks),
        ),
    )


def section(name):
    picture = Picture(f"{name}_figure", Figure(), f"a figure of {name} & {EVIL}")
    artifacts.FIGURES.mkdir(parents=True, exist_ok=True)
    Image.new("RGBA", (90, 40), (250, 120, 0, 255)).save(artifacts.FIGURES / f"{picture.name}.png")
    table = Table(["network", "accuracy <%>"], [[EVIL, "50.0 ± 0.1"]])
    return Section(
        f"{name}: {EVIL}", f"caption & `code` of {name}", table, [picture], [f"A finding of {name}, 1.0 ± 0.5 {EVIL}"]
    )


def lay_run():
    """A run of the networks `z`, whose name is markup, and LeNet `a`."""
    lay_plan("fourier", {"eps": 1.5, "sigma": 3.0}, [{"step": 16}] * 2)
    lay_plan("convergence", {"eps": 1.0, "sigma": 0.5}, [{"step": 16}] * 2)
    lay_plan("nad_sweep", {"eps": 1.0, "sigma": {"z": 3.5, "a": 2.0}}, [{"indices": [0, 10]}] * 2)
    lay_plan("linear_pairs", {"eps1": 1.5, "eps2": 0.75, "sigma": 2.0}, [{"indices": [1, 9]}] * 2)
    lay_plan("image_pairs", {"eps": 1.25, "sigma": {"z": 3.5, "a": 2.0}}, [{"indices": [1]}] * 2)
    lay_plan("poison", {"size": 0.05}, [{"indices": [0], "mixture_indices": []}] * 2)
    lay_plan("flip", {}, [{}, {}])
    for name in experiments.names():
        plan = artifacts.planned(name)
        plan["members"]["z"]["specification"] = OWN
        artifacts.write_json(artifacts.PLAN / f"{name}.json", plan)
    estimator = Estimator("secant", "plain", 50.0, "many", False, True)
    sources = {"z": Request(OWN, Source(file=EVIL)), "a": Request(LENET, Source(networks=64))}
    artifacts.write_json(artifacts.PLAN / "nads.json", dataclasses.asdict(NADsPlan("smoke", 7, estimator, sources)))
    lay_every_nads("z", np.linalg.qr(np.random.default_rng(0).normal(size=(1024, 40)))[0].T, 0)
    lay_every_nads("a", basis(), 64)
    results("fourier", [({"k_row": r, "k_col": c}, ["all"]) for r in (-16, 0) for c in (-16, 0)], unfitted=3)
    results("nad_sweep", [({"estimand": "secant", "index": i}, ["all"]) for i in (0, 10)])
    results("flip", [({"images": images}, ["all"]) for images in ("plain", "flipped")])
    pairs = [(first, second) for first in (1, 9) for second in (1, 9)]
    results("linear_pairs", [({"index_1": a, "index_2": b}, ["all", "first", "second"]) for a, b in pairs])
    rows = [
        {
            "architecture": name,
            "seed": seed,
            "index_1": a,
            "index_2": b,
            "tilt": 10.0 * a + b + seed,
            "margin_1": 1.0,
            "margin_2": 2.0,
            "train_accuracy": 1.0,
        }
        for name in ("z", "a")
        for seed in (5, 6)
        for a, b in pairs
    ]
    lay(artifacts.REPORTS / "linear_pairs" / "boundaries.csv", rows)
    slope = np.linspace(0, 1, POINTS) * np.ones((POINTS, 1))
    names = [f"{row['architecture']}-{row['index_1']}-{row['index_2']}-seed{row['seed']}" for row in rows]
    save(
        artifacts.REPORTS / "linear_pairs" / "cross_sections.npz", **{name: slope.astype(np.float16) for name in names}
    )


def report(*names, captions=("one line",)):
    return Report("Report of this run", captions, "Code of no commit.", {name: section(name) for name in names})


def page(folder, patch):
    """The page of the run, which is laid down in a folder."""
    patch.chdir(folder)
    about = ABOUT | {"name": EVIL, "classes": [EVIL, "b"], "train": 700, "test": 90}
    artifacts.write_json(artifacts.IMAGES / "about.json", about)
    lay_run()
    return document.document(report(*NAMES), f"images of this run: {EVIL}", compare.tables(dict.fromkeys(NAMES)))


class Reader(HTMLParser):
    """What a browser reads: tags with their attributes, and the text of scripts and of everything else."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.words, self.inside = [], [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        else:
            self.words.append(data)


def data_of(text):
    return json.loads(Reader(text).scripts[0])
