package expr

func overlapsFunctions() []*Function {
	at := func(s string) Expr { return timestamp("2024-01-01 " + s) }
	return []*Function{{
		Name: "OVERLAPS", Category: Temporal, Signature: "(start1, end1) OVERLAPS (start2, end2)",
		Help:     "TRUE if the two spans of time share a moment, be it a bound; an end may be an INTERVAL after the start, and lie before it.",
		Examples: []Example{ex("TRUE", at("02:55:00"), days("0 01:00:00"), at("03:30:00"), days("0 02:00:00")), ex("FALSE", at("09:00:00"), at("10:00:00"), at("10:15:00"), days("0 03:00:00")), ex("TRUE", at("10:00:00"), at("09:00:00"), at("10:00:00"), at("11:00:00"))},
		rewrite:  overlaps,
		show: func(c *Call) string {
			return "(" + list(c.Args[:2]) + ") OVERLAPS (" + list(c.Args[2:]) + ")"
		},
	}}
}

// overlaps: with the bounds of each span in order, the end of either is not before the start of the other.
func overlaps(args []Expr) (Expr, error) {
	args, err := sig{params: []param{aTemporal, aMoment, aTemporal, aMoment}}.check(args)
	if err != nil {
		return nil, err
	}
	var starts, ends [2]Expr
	for i := range starts {
		start, end := args[2*i], args[2*i+1]
		if end.Type().IsInterval() {
			if end, err = Resolve("+", []Expr{start, end}); err != nil {
				return nil, blame(err, 2*i, 2*i+1)
			}
		}
		if starts[i], err = Resolve("LEAST", []Expr{start, end}); err != nil {
			return nil, argErrorf(2*i+1, "OVERLAPS: a span of time cannot begin with %s and end with %s; write a CAST", start.Type().Nullable(), end.Type().Nullable())
		}
		ends[i] = must(Resolve("GREATEST", []Expr{start, end}))
	}
	first, err := Resolve(">=", []Expr{ends[0], starts[1]})
	if err != nil {
		return nil, blame(err, 0, 2)
	}
	return And(first, must(Resolve(">=", []Expr{ends[1], starts[0]}))), nil
}
