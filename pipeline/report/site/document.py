"""The page as one HTML file with its images and data: it needs no other file and no
network.

A chapter is a template that sets its `title`, and a page is a template that extends
page.html.j2.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import matplotlib
import numpy as np
from markupsafe import Markup
from PIL import Image

from pipeline.report import style
from pipeline.report.page import LEGEND, Section, merge_tables, rerun_command
from pipeline.report.site.data import LEVELS, ZERO, data_uri, script_json

HERE = Path(__file__).parent

# The scripts in their order: one of each explorer, and what all of them use.
SCRIPTS = (
    "basis",
    "fourier",
    "nads",
    "sweep",
    "photographs",
    "pairs",
    "start",
)

# The chapters of a run's own page, in order; each is empty where the run has no tables
# for it.
CHAPTERS = ("waves", "nads", "sweep", "photographs", "pairs", "learning")

FIRST = ("LeNet", "ResNet-18", "VGG-11")  # networks that come first in a picker

WIDTHS = {"0.125": "⅛", "0.25": "¼", "0.5": "½"}  # parts of a network's full width

# The sections of each question, by 'nads' or the name of an experiment.
Runs = Mapping[str, Sequence[Section]]


def load_templates(*folders: Path) -> jinja2.Environment:
    """The templates of some folders, which escape what is put into them.

    Args:
        folders: Where to look for a template, in this order.
    """
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def embed_image(path: Path) -> dict[str, Any] | None:
    """A saved figure for the page, if there is one: its data URI and its size."""
    if not path.exists():
        return None
    with Image.open(path) as picture:
        # With 128 colours it looks the same and takes half of the bytes.
        few = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    return {"source": data_uri(few), "size": few.size}


def shorten(label: str) -> str:
    """A network's label as the pickers have it: 'ResNet-18 ¼'."""
    for width, part in WIDTHS.items():
        label = label.replace(f", width ×{width}", f" {part}")
    return label


def list_choices(networks: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """List what a picker offers, by name: each network once, from its largest run."""
    by_name: dict[str, Mapping[str, Any]] = {}
    for network in networks:
        name = shorten(network["name"])
        if name not in by_name or len(network["cells"]) > len(by_name[name]["cells"]):
            by_name[name] = {**network, "name": name}
    return by_name


def find_opening(sections: Sequence[Section]) -> str | None:
    """The architecture that the finding of the first section is about."""
    if not sections or not sections[0].finding:
        return None
    return sections[0].finding.network


def sort_networks(sections: Sequence[Section]) -> list[Mapping[str, Any]]:
    """List what the explorer of some sections offers, in the order of its picker.

    The first entry, which is shown at the beginning, is the network that the finding is
    about. The networks of `FIRST` follow, then all others. Published values come after
    measured values.
    """
    opening = None
    architecture = find_opening(sections)
    if architecture:
        opening = sections[0].record.labels[architecture]

    def sort_key(network: Mapping[str, Any]) -> tuple[bool, int, bool]:
        name = network["name"]
        family = len(FIRST)
        for position, start in enumerate(FIRST):
            if name.startswith(start):
                family = position
        return name != opening, family, name.endswith("published")

    networks = [network for section in sections for network in section.explorer]
    return sorted(networks, key=sort_key)


def collect_explorers(runs: Runs) -> dict[str, dict[str, Mapping[str, Any]]]:
    """The data of the explorers by their names: what each offers, by name."""
    nads = [network for section in runs["nads"] for network in section.explorer]
    nads.sort(key=lambda network: network["key"] != find_opening(runs["nads"]))
    return {
        "fourier": list_choices(sort_networks(runs["fourier"])),
        "nads": {network["key"]: network for network in nads},
        "sweep": list_choices(sort_networks(runs["nad_sweep"])),
        "photographs": list_choices(sort_networks(runs["poison"])),
        "pairs": list_choices(sort_networks(runs["linear_pairs"])),
    }


def prepare(
    runs: Runs,
    figures: Path,
    *folders: Path,
    regenerate: Callable[[str], str] | None = None,
) -> jinja2.Environment:
    """The templates of a page, and what they may ask for.

    Args:
        runs: The sections. If a question has several runs, the run whose finding is
            quoted comes first.
        figures: The folder of the saved figures, by whose names templates ask for them.
        folders: Where to look for templates before this folder.
        regenerate: The command that makes a section again, from its name; None if there
            is none.
    """
    environment = load_templates(*folders, HERE)
    environment.globals |= {
        "runs": runs,
        "networks": collect_explorers(runs),
        "regenerate": regenerate,
        "merge_tables": merge_tables,
        "image": lambda name: embed_image(figures / f"{name}.png"),
    }
    environment.globals["parts"] = environment.get_template("parts.html.j2").module
    return environment


def compose(
    environment: jinja2.Environment,
    template: str,
    chapters: Iterable[str],
    **values: Any,
) -> str:
    """A page with its chapters.

    Args:
        environment: Of `prepare`.
        template: The page's template.
        chapters: Names of chapters, in order. An empty chapter is left out.
        values: For the page's template.
    """
    modules = {}
    for name in chapters:
        module = environment.get_template(f"chapters/{name}.html.j2").module
        if str(module).strip():
            modules[name] = module
    scripts = [
        (HERE / "script" / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS
    ]
    shades = matplotlib.colormaps[style.ACCURACY](np.linspace(0, 1, 64), bytes=True)[
        :, :3
    ]
    networks = environment.globals["networks"]
    data = {"colours": shades, "tile": [ZERO, 2 * LEVELS], **networks}
    return environment.get_template(template).render(
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        script=Markup("\n".join(scripts)),
        chapters=modules,
        legend=LEGEND,
        json=script_json(data),
        **values,
    )


def document(runs: Runs, scale: str, notice: str | None, figures: Path) -> str:
    """The page of one run.

    Args:
        runs: The section of each question.
        scale: The scale of the run.
        notice: The line that names images other than CIFAR-10.
        figures: The folder of the saved figures.
    """
    environment = prepare(runs, figures, regenerate=rerun_command)
    return compose(environment, "run.html.j2", CHAPTERS, scale=scale, notice=notice)
