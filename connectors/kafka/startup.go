package kafka

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicesql/sluice/connectors/spi"
)

// pointKind is a way to name an offset in every partition.
type pointKind uint8

const (
	unbounded pointKind = iota
	earliest
	latest
	committed
	atTime
	specific
)

// point names an offset in every partition.
type point struct {
	kind    pointKind
	millis  int64
	offsets map[int32]int64
}

// startPoint reads scan.startup.*. hint is a spelling to prefer, or "".
func startPoint(o spi.Options) (p point, hint string, err error) {
	const mode = "scan.startup.mode"
	v := strings.ToLower(strings.TrimSpace(o.Get(mode, "group-offsets")))
	if v == "earliest" || v == "latest" {
		hint = fmt.Sprintf("option %q: %q is read as %q, which is Flink's spelling", mode, v, v+"-offset")
		v += "-offset"
	}
	p, err = readPoint(o, "scan.startup", v, map[string]pointKind{
		"group-offsets": committed, "earliest-offset": earliest, "latest-offset": latest, "timestamp": atTime, "specific-offsets": specific,
	}, []string{"group-offsets", "earliest-offset", "latest-offset", "timestamp", "specific-offsets"})
	return p, hint, err
}

// endPoint reads scan.bounded.*.
func endPoint(o spi.Options) (point, error) {
	return readPoint(o, "scan.bounded", strings.ToLower(strings.TrimSpace(o.Get("scan.bounded.mode", "unbounded"))), map[string]pointKind{
		"unbounded": unbounded, "latest-offset": latest, "group-offsets": committed, "timestamp": atTime, "specific-offsets": specific,
	}, []string{"unbounded", "latest-offset", "group-offsets", "timestamp", "specific-offsets"})
}

func readPoint(o spi.Options, prefix, v string, kinds map[string]pointKind, names []string) (p point, err error) {
	mode, offsets, millis := prefix+".mode", prefix+".specific-offsets", prefix+".timestamp-millis"
	kind, ok := kinds[v]
	if !ok {
		return p, &spi.OptionError{Name: mode, Value: true, Msg: fmt.Sprintf("option %q wants one of %s, got %q", mode, strings.Join(names, ", "), o[mode])}
	}
	p.kind = kind
	for name, belongs := range map[string]pointKind{offsets: specific, millis: atTime} {
		_, set := o[name]
		switch {
		case set && kind != belongs:
			return p, &spi.OptionError{Name: name, Msg: fmt.Sprintf("option %q has no effect with %q = %q", name, mode, v)}
		case !set && kind == belongs:
			return p, &spi.OptionError{Name: mode, Msg: fmt.Sprintf("%q = %q needs option %q", mode, v, name)}
		}
	}
	switch kind {
	case specific:
		p.offsets, err = parseOffsets(offsets, o[offsets])
	case atTime:
		p.millis, err = o.Int(millis, 0)
		if err == nil && p.millis < 0 {
			err = &spi.OptionError{Name: millis, Value: true, Msg: fmt.Sprintf("option %q wants milliseconds since 1970, got %q", millis, o[millis])}
		}
	}
	return p, err
}

// parseOffsets reads `partition:0,offset:42;partition:1,offset:300`.
func parseOffsets(name, v string) (map[int32]int64, error) {
	bad := func(part string) error {
		return &spi.OptionError{Name: name, Value: true, Msg: fmt.Sprintf("option %q wants 'partition:0,offset:42;partition:1,offset:300', got %q", name, part)}
	}
	out := map[int32]int64{}
	for _, part := range strings.Split(strings.TrimSuffix(strings.TrimSpace(v), ";"), ";") {
		left, right, ok := strings.Cut(part, ",")
		ps, ok1 := strings.CutPrefix(strings.TrimSpace(left), "partition:")
		os, ok2 := strings.CutPrefix(strings.TrimSpace(right), "offset:")
		if !ok || !ok1 || !ok2 {
			return nil, bad(part)
		}
		p, err1 := strconv.ParseInt(ps, 10, 32)
		off, err2 := strconv.ParseInt(os, 10, 64)
		if err1 != nil || err2 != nil || p < 0 || off < 0 {
			return nil, bad(part)
		}
		if _, twice := out[int32(p)]; twice {
			return nil, &spi.OptionError{Name: name, Value: true, Msg: fmt.Sprintf("option %q names partition %d twice", name, p)}
		}
		out[int32(p)] = off
	}
	return out, nil
}
