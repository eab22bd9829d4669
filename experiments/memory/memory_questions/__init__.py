"""The questions on memory, a module each: `rows(small)` simulates, `draw(axes, rows)` draws."""
