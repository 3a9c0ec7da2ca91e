"""What the figure and the table of `learning` leave out."""

import dataclasses

from small_run import with_member

from pipeline.networks import NETWORKS
from pipeline.report import learning


def test_directions_of_g_s_g_are_not_told_of_logistic_regression(whole):
    linear = {"network": NETWORKS["logreg"]}
    one = with_member(whole.experiments["learning"], "a", specification=linear)
    run = dataclasses.replace(whole, experiments=whole.experiments | {"learning": one})
    section = learning.section(run)
    column = "response in the first 10 directions of G S G (%) after it"
    told = [row[column] for row in section.rows]
    assert told == ["–", "8.6 ± 0.1", "–", "–"]
    shown = [panel.get_visible() for panel in section.pictures[0].figure.axes]
    assert shown == [True, True, True, True, True, False, True, True]
