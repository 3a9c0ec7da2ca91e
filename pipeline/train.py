"""Stage `train EXPERIMENT`: every network of the grid -> models/{experiment}/.

One {cell}.safetensors per cell, training.csv with the last epoch's loss and accuracy, losses.csv with every epoch's loss,
grid.json with what the networks are.
Finished cells come from the store; a run that was killed goes on where it stopped.
"""

import functools
import itertools
import shutil
import sys
import time

import pandas as pd
import torch
from tqdm import tqdm

from pipeline import artifacts, experiments, params, training
from pipeline import networks as architectures
from pipeline.machine import closure, store, workers
from pipeline.project import seeds
from pipeline.project.errors import InputError, one_sentence
from pipeline.training import ensembles

TOGETHER = ("cuda",)
"""Kinds of device on which networks networks train together; a CPU is faster with one in each process."""


def untrained(data, recipe):
    """The cell's network before training, and the seed of its order of samples."""
    network = architectures.made(
        recipe["specification"], data.module.CHANNELS, data.outputs, seeds.derive(*recipe["identity"], "weights")
    )
    return network, seeds.derive(*recipe["identity"], "order")


def keep(recipe, network, losses, accuracy):
    """Put a trained cell into the store."""
    store.Store(recipe["store"]).put(recipe["key"], network.state_dict(), {"losses": losses, "accuracy": accuracy})


def trained(data, recipe):
    """One cell's network, trained, with what `training.train` returns."""
    device, (x, y) = torch.device(recipe["device"]), data.dataset(recipe["cell"], "train")
    network, order = untrained(data, recipe)
    x, y = training.arranged(x, device), y.to(device)
    return network, *training.train(network, x, y, training.Recipe(**recipe["training"]), order)


def train_cell(data, recipe):
    """Train one cell and keep its weights in the store; runs in a worker."""
    keep(recipe, *trained(data, recipe))


def trained_together(data, recipes):
    """The networks of cells of one group (see `groups_of`), trained together, and a list of what `ensembles.train` gives of each."""
    first = recipes[0]
    together = architectures.together(first["specification"])
    if together == "alone":
        (recipe,) = recipes
        network, *result = trained(data, recipe)
        return [network], [result]
    networks, orders = zip(*(untrained(data, recipe) for recipe in recipes))
    sets = (data.dataset(recipe["cell"], "train") for recipe in recipes)
    recipe_of_all, device = training.Recipe(**first["training"]), torch.device(first["device"])
    return networks, ensembles.train(networks, sets, recipe_of_all, orders, device, together)


def train_together(data, recipes):
    """Train cells of one group and keep each; returns for each None, or why it failed."""
    networks, results = trained_together(data, recipes)
    for recipe, network, result in zip(recipes, networks, results):
        if not isinstance(result, Exception):
            keep(recipe, network, *result)
    return [result if isinstance(result, Exception) else None for result in results]


def groups_of(recipes, channels, outputs):
    """The recipes as lists of (position, recipe) that can be trained together: neighbours of one architecture and training."""
    same = lambda numbered: (numbered[1]["specification"], numbered[1]["training"])
    groups = []
    for (specification, _), members in itertools.groupby(enumerate(recipes), same):
        members = list(members)
        network = architectures.build(specification, channels, outputs, 0)
        size = ensembles.at_once(network, architectures.together(specification))
        groups += [members[start : start + size] for start in range(0, len(members), size)]
    return groups


def recipes_of(chosen, module, device):
    """One dict per cell: all that a worker needs besides the data, and the key under which the result is kept."""
    name = module.__name__.rpartition(".")[2]
    data = artifacts.Data(name)
    engine = trained_together if device.type in TOGETHER else trained
    common = {
        "device": device.type,
        "images": artifacts.about_images()["digest"] if module.NEEDS_IMAGES else None,
    }
    directions = {key: store.digest(vector) for key, vector in data.vectors.items()}
    draws = {}
    for cell in artifacts.cells(name):
        plan = chosen.grid.networks[cell["architecture"]]
        recipe = {
            "cell": cell,
            "specification": (specification := architectures.resolved(chosen.architectures[cell["architecture"]])),
            "code": closure.digest(engine, (artifacts.Data, "dataset"), module.dataset, specification["network"]),
            "training": {
                "epochs": plan.epochs,
                "lr": plan.lr,
                "momentum": plan.momentum,
                "weight_decay": plan.weight_decay,
                "schedule": module.SCHEDULE,
                "precision": chosen.precision,
            },
            "identity": [cell["seed"], name, cell["architecture"], *(cell[c] for c in module.COORDINATES)],
        }
        if cell["seed"] not in draws:
            draws[cell["seed"]] = {
                key: store.digest(array)
                for key, array in sorted(data.draw(cell["seed"]).items())
                if not key.startswith("test")
            }
        used = [directions[name] for name in module.uses(cell)]
        recipe["key"] = store.digest([recipe, common, draws[cell["seed"]], used])
        yield recipe | {"device": device.type, "store": str(store.default_folder())}


def main(name):
    """Train what the store does not hold, then lay out models/{name}/."""
    module = experiments.find(name)
    chosen = params.load(experiment=module)
    device = workers.device_of(chosen.device)
    artifacts.present(artifacts.DATASETS / name, f"generate {name}")
    kept = store.Store(store.default_folder())
    recipes = list(recipes_of(chosen, module, device))
    due = [recipe for recipe in recipes if not chosen.reuse or kept.get(recipe["key"]) is None]
    started, failures = time.monotonic(), []
    reused = len(recipes) - len(due)
    make_data = functools.partial(artifacts.Data, name)
    if device.type in TOGETHER and due:
        groups = groups_of(due, module.CHANNELS, artifacts.Data(name).outputs)
        work = workers.run_together(train_together, groups, make_data)
    else:
        work = workers.run(train_cell, due, make_data, device)
    with tqdm(desc=f"train {name}", total=len(recipes), initial=reused, unit="cell", disable=None) as bar:
        bar.set_postfix(reused=reused, failed=0)
        for position, result in work:
            if isinstance(result, Exception):
                cell = artifacts.cell_name(due[position]["cell"], module.COORDINATES)
                failures.append({"cell": cell, "reason": f"{type(result).__name__}: {result}"})
                bar.set_postfix(reused=reused, failed=len(failures))
            bar.update()
    minutes, trained = (time.monotonic() - started) / 60, len(due) - len(failures)
    print(
        f"{name}: {trained} cells trained, {reused} reused, {len(failures)} failed; {minutes:.1f} min"
        + (f", {trained / minutes:.1f} models per minute" if trained else "")
        + f" on {f'{workers.cores()} cores' if device.type == 'cpu' else torch.cuda.get_device_name()}"
    )
    folder = artifacts.fresh(artifacts.MODELS / name)
    if failures:
        pd.DataFrame(failures).to_csv(folder / "failed.csv", index=False)
        raise InputError(
            f"{len(failures)} of {len(recipes)} cells of {name} failed (the others are kept and not trained again; "
            f"{folder}/failed.csv has this list): "
            + "; ".join(f"{failure['cell']}: {failure['reason']}" for failure in failures)
        )

    rows, losses = [], []
    for recipe in recipes:
        cell = recipe["cell"]
        copy = folder / f"{artifacts.cell_name(cell, module.COORDINATES)}.safetensors"
        shutil.copyfile(kept.path(recipe["key"]), copy)
        outcome = kept.get(recipe["key"])
        place = {"architecture": cell["architecture"], "seed": cell["seed"]} | {c: cell[c] for c in module.COORDINATES}
        rows.append(place | {"loss": outcome["losses"][-1], "accuracy": outcome["accuracy"]})
        losses += [place | {"epoch": epoch, "loss": round(loss, 6)} for epoch, loss in enumerate(outcome["losses"], 1)]
    pd.DataFrame(rows).to_csv(folder / "training.csv", index=False)
    pd.DataFrame(losses).to_csv(folder / "losses.csv", index=False)
    artifacts.write_json(
        folder / artifacts.GRID,
        {
            "scale": chosen.scale,
            "seeds": chosen.grid.seeds,
            "precision": chosen.precision,
            "architectures": {name: chosen.architectures[name] for name in chosen.grid.networks},
        },
    )


if __name__ == "__main__":
    with one_sentence():
        main(experiments.asked_for(sys.argv[1:]))
