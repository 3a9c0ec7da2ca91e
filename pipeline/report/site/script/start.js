for (const [name, start] of Object.entries({ fourier, nads, sweep, photographs, pairs })) if ($(`live-${name}`)) start(page[name], page);
