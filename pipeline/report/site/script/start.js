for (const [id, start] of Object.entries({ nads, fourier, pairs })) {
  const host = $(`live-${id}`);
  if (host) start(), (host.hidden = false);
}
