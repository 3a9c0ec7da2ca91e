"""The networks that train in the reader's browser, run by Node, against torch and
pipeline.nads."""

import json
import shutil

import numpy as np
import pytest
import torch
from structure import ROOT
from torch import nn
from torch.nn.utils import vector_to_parameters

from docs.site import measure
from docs.site.measure import run_node
from pipeline import nads

NODE = shutil.which("node")
MEASURED = ROOT / "docs/site/measured.json"
SIDE = 16

pytestmark = pytest.mark.skipif(
    NODE is None, reason="no Node here (apt-get install nodejs)"
)


def make_pooled():
    return nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Conv2d(6, 8, 3, padding=1),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(128, 24),
        nn.ReLU(),
        nn.Linear(24, 1),
    )


def make_strided():
    return nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1, stride=2),
        nn.ReLU(),
        nn.Conv2d(6, 8, 3, padding=1, stride=2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(128, 24),
        nn.ReLU(),
        nn.Linear(24, 1),
    )


def make_linear():
    return nn.Sequential(nn.Flatten(), nn.Linear(256, 1))


MAKERS = {"linear": make_linear, "pooled": make_pooled, "strided": make_strided}

KERNELS = {"webassembly": None, "javascript": b""}
"""Where the networks compute; no bytes are no module, so a network does without it."""


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("architecture", MAKERS)
def test_outputs_and_gradients_are_those_of_torch(architecture, kernel):
    found = run_node(
        f"""(() => {{
      const network = createNetwork("{architecture}", 5);
      const samples = drawSamples(fourierDirection(2, 3), BATCH, 6);
      const labels = samples.map(({{ label }}) => label);
      answer(network, inBatches(samples)[0]);
      network.outputGradient.set(labels);
      network.backward();
      const list = (key) => network.parameters.flatMap((part) => Array.from(part[key]));
      const values = list("values"), gradient = list("gradient");
      const images = samples.map(({{ image }}) => Array.from(image));
      const outputs = Array.from(network.outputs), compiled = COMPILED !== null;
      return {{ outputs, images, labels, values, gradient, compiled }};
    }})()""",
        KERNELS[kernel],
    )
    assert found["compiled"] == (kernel == "webassembly")
    network = MAKERS[architecture]().double()
    values = torch.tensor(found["values"], dtype=torch.float64)
    with torch.no_grad():
        vector_to_parameters(values, network.parameters())
    images = torch.tensor(found["images"], dtype=torch.float64)
    outputs = network(images.reshape(-1, 1, SIDE, SIDE)).squeeze(1)
    # Numbers of 32 bits, of which up to 8,000 are added.
    tolerance = {"rtol": 1e-4, "atol": 1e-5}
    np.testing.assert_allclose(found["outputs"], outputs.detach(), **tolerance)
    (outputs * torch.tensor(found["labels"])).sum().backward()
    gradient = torch.cat([each.grad.flatten() for each in network.parameters()])
    np.testing.assert_allclose(found["gradient"], gradient, **tolerance)
    # The last bias is uniform between ±1/√fan-in, as torch draws it.
    assert 0 < abs(found["values"][-1]) <= network[-1].in_features ** -0.5


@pytest.mark.parametrize("architecture", MAKERS)
def test_a_step_in_javascript_is_the_step_in_webassembly(architecture):
    step = f"""(() => {{
      const network = createNetwork("{architecture}", 5);
      const list = () => network.parameters.flatMap(({{ values }}) => Array.from(values));
      const [batch] = inBatches(drawSamples(fourierDirection(2, 3), BATCH, 6));
      const before = list(), right = trainStep(network, batch, 0.1);
      return {{ before, after: list(), right }};
    }})()"""
    one, two = (run_node(step, kernel) for kernel in KERNELS.values())
    assert one["before"] == two["before"]
    assert one["right"] == two["right"]
    changes = [np.subtract(each["after"], each["before"]) for each in (one, two)]
    # The gradient's norm is at most 0.2, and the rate 0.1.
    assert 0.001 < np.linalg.norm(changes[0]) < 0.0201
    np.testing.assert_allclose(*changes, atol=1e-6)


def test_samples_are_of_d_of_v():
    found = run_node("""(() => {
      const v = fourierDirection(4, 2);
      const samples = drawSamples(v, 400, 3);
      return { v: Array.from(v), samples: samples.map(({ image }) => Array.from(image)),
        labels: samples.map(({ label }) => label) };
    })()""")
    v = np.array(found["v"])
    samples = np.array(found["samples"])
    assert np.linalg.norm(v) == pytest.approx(1)
    np.testing.assert_allclose(samples @ v, found["labels"], atol=1e-9)
    assert abs(np.mean(found["labels"])) < 0.15
    rest = samples - np.outer(samples @ v, v)
    # 400 samples have variance 1 in each of 255 directions, with a standard error of
    # 0.0044.
    assert (rest**2).sum() / (400 * 255) == pytest.approx(1, abs=0.02)


def symmetrised(covariance):
    """The mean of a covariance over the 8 symmetries of the square."""
    total = np.zeros_like(covariance)
    places = np.arange(SIDE**2).reshape(SIDE, SIDE)
    for turned in (places, places.T):
        for flipped in (turned, turned[::-1], turned[:, ::-1], turned[::-1, ::-1]):
            order = flipped.ravel()
            total += covariance[np.ix_(order, order)] / 8
    return total


def shared_energy(directions, others):
    """The energy of the first 20 directions in the span of the first 20 of another
    estimate."""
    return np.linalg.norm(directions[:20] @ others[:20].T) ** 2 / 20


def test_nads_are_those_of_pipeline_nads_to_sampling_error():
    found = run_node("""(() => {
      const secants = drawSecants(60, 1);
      const found = nadsOf(secants);
      return { secants: secants.map((each) => Array.from(each)),
        eigenvalues: found.map(({ eigenvalue }) => eigenvalue),
        directions: found.map(({ direction }) => Array.from(direction)) };
    })()""")
    secants = np.array(found["secants"])
    covariance = symmetrised(secants.T @ secants / len(secants))
    eigenvalues = np.array(found["eigenvalues"])
    directions = np.array(found["directions"])
    # Eigenvectors of the same secants, exactly.
    np.testing.assert_allclose(
        eigenvalues, np.linalg.eigvalsh(covariance)[::-1], rtol=1e-6
    )
    np.testing.assert_allclose(directions @ directions.T, np.eye(SIDE**2), atol=1e-8)
    residual = directions @ covariance - eigenvalues[:, None] * directions
    assert np.abs(residual).max() < 1e-9 * eigenvalues[0] * SIDE**2
    # The same network of torch, with other weights and another image.
    shape = (1, SIDE, SIDE)
    options = {"networks": 60, "symmetry": "square", "method": "plain"}
    one = nads.estimate(make_pooled, shape, **options, seed=0)
    two = nads.estimate(make_pooled, shape, **options, seed=1)
    error = np.sqrt(one.standard_errors**2 + two.standard_errors**2)
    assert np.abs(eigenvalues - one.eigenvalues)[:20].max() < 4 * error[:20].max()
    ratio = eigenvalues[[10, 50, 150, 250]] / one.eigenvalues[[10, 50, 150, 250]]
    assert np.all((0.6 < ratio) & (ratio < 1.6))
    between = shared_energy(one.directions, two.directions)
    assert between > 0.5
    assert shared_energy(directions, one.directions) > between - 0.1


@pytest.mark.parametrize(
    "kernel", ["webassembly", pytest.param("javascript", marks=pytest.mark.slow)]
)
def test_the_pooled_network_memorises_where_the_strided_one_generalises(kernel):
    found = run_node(
        """Object.fromEntries(["linear", "pooled", "strided"].map((name) =>
      [name, trainNetwork(name, fourierDirection(4, 4), 1)]))""",
        KERNELS[kernel],
    )
    assert min(result["train"] for result in found.values()) >= 0.98
    assert found["pooled"]["test"] < 0.62
    assert min(found["linear"]["test"], found["strided"]["test"]) >= 0.99


def check_ranges(measured):
    """Every network fits; only the pooled one fails, along (4, 4) and (8, 8)."""
    ranges = {2: (0.94, 1.0), 4: (0.49, 0.62), 8: (0.47, 0.61)}
    for row in measured["waves"]:
        low, high = ranges[row["frequency"]]
        assert low <= min(row["pooled"]["test"])
        assert max(row["pooled"]["test"]) <= high
        assert min(row["linear"]["test"] + row["strided"]["test"]) >= 0.985
        for architecture in MAKERS:
            assert min(row[architecture]["train"]) >= 0.98
    along = [row["test"][0] for row in measured["nads"]]
    assert along[0] >= 0.99
    assert along[2] > 0.9 > along[4] > 0.55
    assert max(along[-2:]) < 0.6


def test_the_committed_measurements_are_in_the_expected_ranges():
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    assert measured["seeds"] == [1, 2, 3, 4, 5]
    check_ranges(measured)


@pytest.mark.slow
def test_measuring_again_gives_the_committed_values():
    again = json.loads(json.dumps(measure.measure()))
    check_ranges(again)
    committed = json.loads(MEASURED.read_text(encoding="utf-8"))
    assert [row["frequency"] for row in again["waves"]] == [2, 4, 8]
    for new, old in zip(
        again["waves"] + again["nads"],
        committed["waves"] + committed["nads"],
        strict=True,
    ):
        for architecture in [name for name in MAKERS if name in new]:
            # Another version of Node may round a logarithm differently, and training is
            # chaotic.
            np.testing.assert_allclose(
                new[architecture]["test"], old[architecture]["test"], atol=0.06
            )
