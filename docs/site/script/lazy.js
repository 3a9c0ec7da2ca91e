/* Chapter 6: what LeNet uses, of a photograph and a pattern that is always right, over the pattern's NAD index. */
function lazy(cells, { photographs, nads: { lenet } }) {
  const input = (name) => $(`lazy-${name}`);
  const { shape, photographs: [photograph] } = Object.values(photographs)[0].pictures;
  draw(input("photograph"), Float32Array.from(atob(photograph.pixels), (letter) => letter.charCodeAt(0) / 127.5 - 1), shape);
  function show(index) {
    const { images, linear } = cells[index];
    axis(input("axis"), 1000, 20, 12);
    for (const [name, accuracy] of Object.entries({ images, linear })) {
      input(name).textContent = `${percent(accuracy)} %`;
      input(`${name}-bar`).style.width = `${percent(accuracy)}%`;
    }
    const used = linear > images + 0.2 ? "the pattern" : images > linear + 0.2 ? "the photograph" : "both, in part";
    input("words").textContent = `If v is NAD ${index}, LeNet uses ${used}.`;
    drawNad(input("pattern"), lenet, index, `NAD ${index} in pixels`);
  }
  slide(input("index"), show).offer(Object.keys(cells).map(Number));
}
lazy(page.lazy, page);
