"""What the sentences of `image_pairs` say."""

import dataclasses

import pandas as pd

from pipeline.report import image_pairs


def test_sentences_say_what_is_used_where(whole):
    rows = [
        {"seed": 0, "index": index, "test_set": test, "accuracy": value, "train_accuracy": trained}
        for index, part, trained in ((1, 0.4, 1.0), (2, 0.9, 1.0), (3, 0.4, 1.0), (4, 0.5, 0.9))
        for test, value in (("all", 0.9), ("linear", part), ("images", 0.6), ("conflict", 0.7))
    ]
    results = pd.DataFrame(rows).assign(architecture="a")
    run = dataclasses.replace(whole.experiments["image_pairs"], results=results)
    assert image_pairs.used(run, "a") == (
        "image_pairs, LeNet (3 of 4 networks fitted): at index 1 the linear channel alone gives "
        "40.0 %, the images alone 60.0 %, and the linear channel's label wins 70.0 % of the "
        "conflicts (n = 1); at index 3 the linear channel alone gives 40.0 %, the images alone "
        "60.0 %, and the linear channel's label wins 70.0 % of the conflicts (n = 1); the images "
        "alone give more at indices: 1, 3; not fitted by any seed, so left out here, at indices: 4."
    )
