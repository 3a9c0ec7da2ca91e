"""Figure of `image_pairs`: accuracy against the NAD index of the linear channel (paper 2, §4, fig. 3)."""

from pipeline.report import style

NAMES = {"all": "both", "linear": "linear channel alone", "images": "images alone"}


def images_or_linear_channel(results, labels, sigmas, caption, notice):
    """Accuracy with both, with the linear channel alone and with the images alone, against the NAD index of v (fig. 3).

    results: reports/image_pairs/results.csv; labels and sigmas: architecture → its name, its noise σ. Points are means
    over seeds, bars one standard deviation.
    """
    names = list(results["architecture"].unique())
    figure, axes = style.new(1, len(names), 2.9 * len(names) + 0.5, 3.6, sharey=True)
    for panel, name in zip(axes[0], names):
        rows = results[results["architecture"] == name]
        for test_set, look in style.CURVES.items():
            cells = rows[rows["test_set"] == test_set].groupby("index")["accuracy"]
            mean, spread = 100 * cells.mean(), 100 * cells.std(ddof=1)
            panel.errorbar(
                mean.index + 1,
                mean,
                None if spread.isna().all() else spread,
                label=NAMES[test_set],
                markersize=5,
                capsize=3,
                **look,
            )
        indices = sorted(rows["index"].unique())
        panel.axhline(50, color="0.6", linewidth=0.8)
        panel.set(
            xscale="log", title=f"{labels[name]}, σ = {sigmas[name]:g}", ylim=(45, 102), xlabel="NAD index of $v$"
        )
        panel.set_xticks([i + 1 for i in indices], [str(i) for i in indices], rotation=45)
        panel.minorticks_off()
    axes[0, 0].set_ylabel("test accuracy (%)")
    axes[0, -1].legend(loc="best")
    return style.finish(figure, "Images ⊕ D(v): what is used when both suffice", caption, notice)
