/* Chapter 6: what LeNet uses, of a photograph and a pattern that is always right, over the pattern's NAD index. */
function lazy(cells, { photographs, nads: { lenet } }) {
  const indices = Object.keys(cells).map(Number), input = (name) => $(`lazy-${name}`), slider = input("index");
  const { shape, photographs: [photograph] } = Object.values(photographs)[0].pictures;
  draw(input("photograph"), Float32Array.from(atob(photograph.pixels), (letter) => letter.charCodeAt(0) / 127.5 - 1), shape);
  slider.max = indices.length - 1;
  async function show() {
    const index = indices[slider.value], { images, linear } = cells[index];
    for (const [name, accuracy] of Object.entries({ images, linear })) {
      input(name).textContent = `${percent(accuracy)} %`;
      input(`${name}-bar`).style.width = `${percent(accuracy)}%`;
    }
    input("index-is").textContent = `NAD ${index}`;
    slider.setAttribute("aria-valuetext", `NAD ${index}`);
    const used = linear > images + 0.2 ? "the pattern" : images > linear + 0.2 ? "the photograph" : "both, in part";
    input("words").textContent = `If v is NAD ${index}, LeNet uses ${used}.`;
    const values = await nad(lenet, index);
    if (indices[slider.value] !== index) return; // another was chosen meanwhile
    draw(input("pattern"), values, lenet.shape);
    input("pattern").setAttribute("aria-label", `NAD ${index} in pixels`);
  }
  slider.addEventListener("input", show);
  show();
}
lazy(page.lazy, page);
$("live-lazy").hidden = false;
