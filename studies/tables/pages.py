"""The pages that have generated tables, and how a table gets into its page."""

import re
from pathlib import Path

from studies.tables import details, estimator, fidelity, findings, kept, speed
from studies.tables.numbers import KEPT

PAGES = [
    Path("README.md"),
    Path("docs/fidelity.md"),
    Path("docs/findings.md"),
    Path("docs/estimator.md"),
    Path("docs/patches.md"),
    Path("docs/speed.md"),
    KEPT / "README.md",
]

VALUES = KEPT / "values.csv"

TABLES = {
    "summary": fidelity.make_summary,
    "counts of verdicts": fidelity.make_counts,
    "verdicts": fidelity.make_verdicts,
    "further verdicts": fidelity.make_further_verdicts,
    "latest pair": fidelity.make_latest_pair,
    "published row": details.make_published_row,
    "odd frequencies": details.make_odd_frequencies,
    "no pooling": details.make_unpooled,
    "strides": details.make_strides,
    "NADs with strides": details.make_strided_nads,
    "curves": details.make_curves,
    "widths": details.make_widths,
    "carriers": details.make_carriers,
    "flips": details.make_flips,
    "checkerboards": details.make_checkerboards,
    "conditioning": details.make_conditioning,
    "fitted LeNets": details.make_fitted_lenets,
    "few samples": details.make_few_samples,
    "controversial carriers": findings.make_controversial_carriers,
    "fitted rivals": findings.make_fitted_rivals,
    "late pairs": details.make_late_pairs,
    "zeroed channels": details.make_zeroed,
    "ResNet-18 pairs": details.make_resnet_pairs,
    "images or NAD": details.make_images_or_nad,
    "blind spots": findings.make_blind_spots,
    "earlier NADs": findings.make_earlier_nads,
    "layer scales": findings.make_layer_scales,
    "gains": findings.make_gains,
    "position embeddings": findings.make_position_embeddings,
    "alterations": findings.make_alterations,
    "families": findings.make_families,
    "maps": findings.make_maps,
    "alignments": findings.make_alignments,
    "scales": findings.make_scales,
    "carriers of LeNet": findings.make_carriers,
    "gaps": findings.make_gaps,
    "carrier sizes": findings.make_carrier_sizes,
    "borders": findings.make_borders,
    "response ranges": findings.make_response_ranges,
    "optimisers": findings.make_optimisers,
    "blocks": findings.make_blocks,
    "rivals": findings.make_rivals,
    "wrong labels": findings.make_wrong_labels,
    "turns": findings.make_turns,
    "course on images": findings.make_course_on_images,
    "order in time": findings.make_order_in_time,
    "overlaps": findings.make_overlaps,
    "estimands": estimator.make_estimands,
    "initial scales": estimator.make_initial_scales,
    "scale steps": estimator.make_scale_steps,
    "networks of patches": estimator.make_patches,
    "accuracy along NADs": estimator.make_sweeps,
    "accuracy along waves": estimator.make_waves,
    "two channels": estimator.make_channels,
    "conflicts": estimator.make_conflicts,
    "kept runs": kept.make_runs,
    "steps on a GPU": speed.make_steps,
    "lanes": speed.make_lanes,
    "scale paper on a GPU": speed.make_forecast,
}
"""The function that makes each table, by the name in the table's marker."""

MARKED = re.compile(r"(<!-- table: ([^>]*) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(text: str) -> str:
    """Make the tables of a page again.

    Args:
        text: The page, with tables between `<!-- table: NAME -->` and `<!-- end -->`.

    Returns:
        The page with a new table between each pair of markers.
    """

    def make(match: re.Match) -> str:
        begin, name, end = match.groups()
        return begin + TABLES[name]() + end

    return MARKED.sub(make, text)
