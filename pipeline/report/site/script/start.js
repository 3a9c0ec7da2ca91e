for (const [id, start] of Object.entries({ samples, nads, fourier, pairs })) {
  const host = $(`live-${id}`);
  if (host && start() !== false) host.hidden = false;
}
compare();
