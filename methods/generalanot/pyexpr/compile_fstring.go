package pyexpr

func (c *compiler) formatted(n *formatted, s *scope) code {
	write := c.fparts(n.parts, s)
	return func(f *frame) Value {
		w := &writer{m: f.m}
		write(f, w)
		f.m.alloc(32)
		return Str(w.String())
	}
}

func (c *compiler) fparts(parts []fpart, s *scope) func(f *frame, w *writer) {
	writes := make([]func(f *frame, w *writer), len(parts))
	for i, p := range parts {
		if p.expr == nil {
			writes[i] = func(_ *frame, w *writer) { w.put(p.lit) }
			continue
		}
		value, spec := c.expr(p.expr, s), c.fparts(p.spec, s)
		writes[i] = func(f *frame, w *writer) {
			v := f.m.convert(value(f), p.conv)
			sw := &writer{m: f.m}
			spec(f, sw)
			f.m.pos = p.expr.at()
			w.put(f.m.format(v, sw.String()))
		}
	}
	return func(f *frame, w *writer) {
		for _, write := range writes {
			f.m.step(1)
			write(f, w)
		}
	}
}
