package ast

import "strconv"

func (p *printer) dataType(t *DataType) {
	switch t.Name {
	case "ARRAY", "MULTISET":
		p.print(t.Name, "<")
		p.dataType(t.Elem)
		p.print(">")
	case "MAP":
		p.print("MAP<")
		p.dataType(t.Key)
		p.print(", ")
		p.dataType(t.Elem)
		p.print(">")
	case "ROW":
		p.print("ROW<")
		p.list(len(t.Fields), func(i int) {
			f := t.Fields[i]
			p.ident(f.Name)
			p.print(" ")
			p.dataType(f.Type)
			if f.Comment != "" {
				p.print(" ")
				p.text(f.Comment)
			}
		})
		p.print(">")
	case "INTERVAL":
		p.print("INTERVAL ")
		p.intervalRange(t.Interval)
	case "TIMESTAMP_TZ":
		p.print("TIMESTAMP")
		p.precision(t)
		p.print(" WITH TIME ZONE")
	default:
		p.print(t.Name)
		p.precision(t)
	}
	p.when(t.NotNull, " NOT NULL")
}

func (p *printer) precision(t *DataType) {
	if t.Precision < 0 {
		return
	}
	p.print("(", strconv.Itoa(t.Precision))
	if t.Scale >= 0 {
		p.print(", ", strconv.Itoa(t.Scale))
	}
	p.print(")")
}

func (p *printer) intervalRange(r *IntervalRange) {
	digits := func(n int) {
		if n >= 0 {
			p.print("(", strconv.Itoa(n), ")")
		}
	}
	p.print(r.From)
	if r.From == "SECOND" && r.FractionPrecision >= 0 {
		p.print("(", strconv.Itoa(r.FromPrecision), ", ", strconv.Itoa(r.FractionPrecision), ")")
		return
	}
	digits(r.FromPrecision)
	if r.To != "" {
		p.print(" TO ", r.To)
		digits(r.FractionPrecision)
	}
}
