/* A figure as an SVG file: its boxes, letters, pictures and plots where they are on the page, with the looks that they have there. */
const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "text-anchor", "shape-rendering", "font-family", "font-size", "font-weight"];
function picture(figure) {
  const frame = figure.getBoundingClientRect(), { width, height } = frame;
  const svg = element("svg:svg", { viewBox: `0 0 ${width} ${height}`, width, height });
  const add = (name, attributes, ...text) => svg.append(element(`svg:${name}`, attributes, ...text));
  const write = (text, x, y, style) => add("text", { x, y, fill: style.color, ...Object.fromEntries(LOOKS.slice(-3).map((name) => [name, style.getPropertyValue(name)])) }, text);
  /* The words of a text node, line by line. */
  function letters(node, style) {
    const range = document.createRange(), lines = new Map();
    for (const { index, 0: word } of node.data.matchAll(/\S+/g)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const box = range.getBoundingClientRect(), line = lines.get(box.top) ?? { box, words: [] };
      line.words.push(word);
      lines.set(box.top, line);
    }
    for (const { box, words } of lines.values()) write(words.join(" "), box.left - frame.left, box.top - frame.top + 0.8 * box.height, style);
  }
  function box(node, style, at) {
    const { opacity } = style, colours = style.backgroundImage.match(/(rgb|color)a?\([^)]*\)/g);
    const rx = style.borderRadius.endsWith("%") ? at.width / 2 : parseFloat(style.borderRadius);
    const border = parseFloat(style.borderTopWidth) ? { stroke: style.borderTopColor, "stroke-width": style.borderTopWidth } : {};
    add("rect", { ...at, rx, opacity, fill: style.backgroundColor === "rgba(0, 0, 0, 0)" ? "none" : style.backgroundColor, ...border });
    if (style.backgroundImage.startsWith("linear")) colours.forEach((fill, n) => add("rect", { ...at, x: at.x + (n * at.width) / colours.length, width: at.width / colours.length, fill }));
    if (style.backgroundImage.startsWith("repeating")) add("path", { d: `M${at.x},${at.y + at.height}l${at.width},${-at.height}`, stroke: colours[0] });
    if (node.ariaSelected === "true") add("rect", { ...at, fill: "none", stroke: style.outlineColor, "stroke-width": style.outlineWidth });
  }
  function plot(node, at) {
    const copy = node.cloneNode(true), copies = [copy, ...copy.querySelectorAll("*")];
    [node, ...node.querySelectorAll("*")].forEach((each, n) => LOOKS.forEach((name) => copies[n].setAttribute(name, getComputedStyle(each).getPropertyValue(name))));
    add("svg", { ...at, viewBox: copy.getAttribute("viewBox") }, ...copy.childNodes);
  }
  function walk(node) {
    const style = getComputedStyle(node), { left, top, width, height } = node.getBoundingClientRect(), at = { x: left - frame.left, y: top - frame.top, width, height };
    if (node.matches("button, input, details, .data, .unseen") || (style.display !== "contents" && !node.checkVisibility())) return;
    if (node.matches("svg")) return plot(node, at);
    box(node, style, at);
    if (node.matches("canvas, img")) return add("image", { ...at, href: node.src ?? node.toDataURL(), preserveAspectRatio: "none", style: "image-rendering:pixelated" });
    if (node.matches("select")) return write(node.selectedOptions[0].text, at.x + 10, at.y + 0.67 * at.height, style);
    for (const child of node.childNodes) child.nodeType === Node.TEXT_NODE ? letters(child, style) : child.nodeType === Node.ELEMENT_NODE && walk(child);
  }
  add("rect", { width, height, fill: getComputedStyle(document.body).backgroundColor });
  walk(figure);
  return new XMLSerializer().serializeToString(svg);
}
for (const button of document.querySelectorAll("[data-figure]"))
  button.addEventListener("click", () => {
    const file = new Blob([picture($(button.dataset.figure))], { type: "image/svg+xml" });
    element("a", { href: URL.createObjectURL(file), download: `${button.dataset.figure}.svg` }).click();
  });
