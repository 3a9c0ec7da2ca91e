"""Figures of the NADs themselves: spectra of the covariance they are eigenvectors of (paper 1, §4)."""

import numpy as np

from pipeline.figures import style

PUBLISHED = {"lenet": 0.189, "vgg11": 0.0638, "resnet18": 0.0428, "densenet121": 0.00233}
"""First singular value of the published 10,000 × 1024 matrices of secants, by network (paper 1's public files)."""


def spectra(estimates, labels, published, caption, notice):
    """√λ against the NAD index on two log axes, the error band from split halves, the published first values as crosses.

    estimates: architecture → (eigenvalues (K,), halves (2, K)); labels: architecture → name; published: architecture → its
    published first singular value, where there is one: √λ times √10,000.
    """
    figure, axes = style.new(1, 1, 6.4, 4.6)
    panel = axes[0, 0]
    for (name, (eigenvalues, halves)), (colour, line) in zip(estimates.items(), style.SPECTRA * len(estimates)):
        index = np.arange(len(eigenvalues)) + 1
        half_gap = np.abs(halves[0] - halves[1]) / 2
        floor = eigenvalues[0] * 1e-9
        band = [np.sqrt(np.maximum(eigenvalues + sign * half_gap, floor)) for sign in (-1, 1)]
        panel.fill_between(index, *band, color=colour, alpha=0.2, linewidth=0)
        panel.plot(index, np.sqrt(np.maximum(eigenvalues, floor)), color=colour, linestyle=line, label=labels[name])
        if name in published:
            panel.plot(1, published[name] / 100, "x", color=colour, markersize=9, markeredgewidth=2, clip_on=False)
    if published:
        panel.plot([], [], "x", color="0.3", markersize=9, markeredgewidth=2, label="published first value")
    panel.set(xscale="log", yscale="log", xlabel="NAD index", ylabel="$\\sqrt{\\lambda}$ (output per unit of input)")
    panel.set_xticks([i + 1 for i in (0, 9, 99, 1000)], ["0", "9", "99", "1000"])
    panel.minorticks_off()
    panel.legend()
    return style.finish(figure, "Spectra of the input derivative's covariance over untrained networks", caption, notice)
