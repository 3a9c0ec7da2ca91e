"""Notices about what the chosen scale leaves out."""

from pipeline.config import Plans
from pipeline.networks.registry import reads_own, specification
from pipeline.project.errors import notice


def notice_experiments(plans: Plans) -> None:
    """Print a notice with the command that runs the experiments of a smaller scale."""
    left_out = [name for name, plan in plans.experiments.items() if not plan.members]
    if left_out:
        rest = [
            f"evaluate@{name}" for name in plans.experiments if name not in left_out
        ]
        notice(
            f"scale {plans.nads.scale} has no {' or '.join(left_out)}; run "
            f"`dvc repro {' '.join(rest or ['estimate'])}` for what it has"
        )


def notice_networks(plans: Plans, architectures: dict[str, dict]) -> None:
    """Print a notice about networks of your own that the chosen scale does not use.

    Args:
        plans: The plans of the chosen scale.
        architectures: The block `architectures` of params.yaml.
    """
    used = set(plans.nads.members)
    for plan in plans.experiments.values():
        used.update(plan.members)
    left_out = [
        name
        for name, architecture in architectures.items()
        if name not in used and reads_own(specification(architecture))
    ]
    if left_out:
        scale = plans.nads.scale
        notice(
            f"scale {scale} does not use {', '.join(left_out)}; to use a network, add "
            f"it to scales.{scale}"
        )
