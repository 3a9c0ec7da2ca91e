"""What the page says besides numbers: each part's title, what it asks, and what one sees in its figures."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Words:
    """The words of one part.

    title: of the part; asks: what it is about, in a few sentences for a reader who does not know the papers; sees: by the
    beginning of a figure's name, what one sees in it.
    """

    title: str
    asks: str
    sees: dict[str, str] = field(default_factory=dict)


WORDS = {
    "samples": Words(
        "A problem that is easy everywhere",
        "Take one direction v among all pictures of 32×32 pixels, and give every sample of a class the same coordinate along it: "
        "x = εyv + w, with y = ±1 the class and w noise in all other directions. A linear classifier needs one number, ⟨x, v⟩. Nothing "
        "else about v matters to it. This family of problems, D(v), is the ruler of both papers: if a network does well for one v and "
        "badly for another, the difference is the network's.",
        {
            "samples": "From the left: a direction; one sample of either class, in which the direction cannot be seen; and what two "
            "measurements make of many samples. Along v (above) the classes are two lines. In the single pixel that tells most "
            "(below) they overlap."
        },
    ),
    "nads": Words(
        "What an untrained network looks at",
        "Draw a network's weights at random, again and again, and ask each time which change of the input changes the output most. The "
        "average answer is a list of directions in order of their strength: the neural anisotropy directions, NADs, of the "
        "architecture. No data enter. NAD 0 is what the network responds to most, before it has learned anything.",
        {
            "nad_spectra": "How strongly an untrained network responds along its NADs, from the first to the last. A steep line is a "
            "network with strong preferences; a level one has none.",
            "nad_gallery": "Some of the directions, in pixels above and as energy over spatial frequency below (the middle is frequency 0).",
            "nad_overlaps": "Whether two ways to measure the response, over a long step and over an infinitely short one, give the same "
            "directions. Red on the diagonal: they do; white: no more than chance.",
        },
    ),
    "nad_sweep": Words(
        "Accuracy along the NADs",
        "The same network is trained on D(u) for one of its own NADs u after another. All these problems are equally easy for a linear "
        "classifier; only the place of u in the network's list differs.",
        {
            "nad_sweep": "Top: accuracy on new samples over the index of u, which is 50 % where nothing is learned. Middle: the loss early in "
            "training; a high one is slow. Bottom: the strength of the response, known before any training."
        },
    ),
    "fourier": Words(
        "Which spatial frequencies a network can learn",
        "Now v is a wave, the same for every network: a pattern of stripes with a frequency along rows and one along columns. Each "
        "cell of a map is a network that was trained on D(v) for that wave.",
        {
            "fourier_maps": "Test accuracy over the frequency of v. The middle of a map is frequency 0. A network without a preference "
            "has one colour everywhere; dots mark waves along which training itself did not succeed."
        },
    ),
    "convergence": Words(
        "What is learned first",
        "With less noise, count the steps of training until the loss is gone. Are the waves that are learned soon those along which "
        "the network also does well on new samples?",
        {
            "convergence_maps": "Left: steps until D(v) is learned; hatched where they were not enough. Right: accuracy of the previous "
            "part against these steps, one point for every wave."
        },
    ),
    "linear_pairs": Words(
        "Two channels, each of them enough",
        "Give a network two channels at once, D(v₁) and D(v₂), both of which tell the class. Nothing in the data says which one to use. "
        "After training one channel is switched off: what remains of the accuracy shows what the network relied on.",
        {
            "two_sufficient_channels": "Left: in the plane of v₁ and v₂, many boundaries separate the two classes equally well. Right: "
            "NADs that v₁ and v₂ are taken from.",
            "linear_accuracies": "Accuracy with both channels, with the first alone and with the second alone, for pairs of NADs. "
            "Hatched: training itself did not succeed with every seed.",
            "linear_boundaries": "What the network decides in the plane of the two directions. An upright boundary uses the first "
            "channel only, a level one the second only.",
            "linear_tilt_and_margins": "The same boundaries as numbers: their tilt, and how far a sample must be moved along either "
            "direction to cross them.",
        },
    ),
    "image_pairs": Words(
        "A photograph or a number",
        "One channel becomes photographs of two groups of classes; the other stays D(v). The photographs are what a person would look "
        "at. Which of the two does the network look at?",
        {
            "images_or_linear_channel": "Accuracy with both channels, with either alone, and, in conflicts, how often the linear "
            "channel wins against an image of the other group, over the NAD index of v."
        },
    ),
    "poison": Words(
        "Writing the class into one NAD",
        "Training images get a faint pattern that says their class, along a single NAD. A network that takes the bait no longer "
        "needs the photographs, and fails on clean ones; one that does not notice it learns as if nothing had been added.",
        {
            "poison_curve": "Accuracy on clean images after training on images with carriers, over the NAD index of the carrier.",
            "poison_examples": "Training images as they are and with their carriers, and what the carriers change.",
        },
    ),
    "flip": Words(
        "The same images, in the wrong order",
        "Every image is written as a sum of the network's NADs, and the coefficients are put in reverse order: what stood along the "
        "first NAD now stands along the last. No information is lost, and the distances between images stay the same.",
        {
            "flip_bars": "Accuracy on images as they are and on reversed ones, each trained and tested alike.",
            "flip_components": "How many predictions change when a part of the image's NAD coefficients is taken away or turned in sign, "
            "and how much the image itself changes.",
        },
    ),
}
"""By part, in no order; an experiment that has none is shown with its section's own heading and caption."""


def seen(words: Words, picture: str) -> str:
    """What one sees in a figure; empty where nothing is said of it."""
    return next((text for start, text in words.sees.items() if picture.startswith(start)), "")
