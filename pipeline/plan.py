"""Stage `plan`: check params.yaml at every scale, and print what will run.

Writes data/plan/ for the chosen scale: images.json, nads.json and {experiment}.json,
with the digests of your own files, and machine.json with the device. No other stage
reads params.yaml. Mistakes at any scale end the stage with one sentence each. Only
networks of the chosen scale are built and tried.
"""

import dataclasses

import pandas as pd
import torch

from pipeline import config, experiments
from pipeline.config.left_out import notice_experiments, notice_networks
from pipeline.config.trial import try_out
from pipeline.grid.forecast import forecast
from pipeline.images.settings import expand_path, notice_other_images
from pipeline.machine import workers
from pipeline.project import artifacts, command
from pipeline.project.errors import one_sentence


def main() -> None:
    """Check params.yaml, print the work that it asks for, and write the plans."""
    torch.set_num_threads(1)
    params = artifacts.read_params()
    document = config.read()
    plans_by_scale = config.plans(document)
    plans = next(iter(plans_by_scale.values()))  # the chosen scale's
    try_out(plans)
    if plans.images.path is not None:
        expand_path(plans.images.path)
    notice_other_images(plans.images)
    print_forecast(plans)
    notice_experiments(plans)
    notice_networks(plans, document["architectures"])
    with artifacts.output(artifacts.PLAN) as folder:
        documents = {"images": plans.images, "nads": plans.nads, **plans.experiments}
        for name, plan in documents.items():
            artifacts.write_json(folder / f"{name}.json", dataclasses.asdict(plan))
        machine = {"device": plans.device, "engine": plans.engine}
        artifacts.write_json(folder / "machine.json", machine)
        artifacts.write_json(folder / "params.json", params)


def print_forecast(plans: config.Plans) -> None:
    """Print the networks, cached networks and minutes of every experiment."""
    device = workers.find_device(plans.device)
    rows = {}
    for name, plan in plans.experiments.items():
        rows[name] = forecast(experiments.find(name), plan, device, plans.engine)
    table = pd.DataFrame(rows).T
    table.loc["all"] = table.sum(skipna=False)
    scale = plans.nads.scale
    print(f"params.yaml is valid; scale {scale} on {workers.device_name(device)}:")
    print(table.to_string(float_format="{:,.0f}".format, na_rep="unknown"))


if __name__ == "__main__":
    with one_sentence():
        command.make_parser(__doc__, "plan").parse_args()
        main()
