for (const [name, start] of Object.entries({ fourier, nads, sweep, photographs, pairs })) {
  const root = $(`live-${name}`);
  if (root) start(root, page[name], page), (root.hidden = false);
}
