package jsonscan

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// envelopes are messages as alike as those of a stream are.
func envelopes(n int) [][]byte {
	ms := make([][]byte, n)
	for i := range ms {
		b, snapshot, sequence := fmt.Sprintf(`{"x":%d,"é\n":"%s"}`, i*i, strings.Repeat("z", i%40)), "false", fmt.Sprintf(`[\"%d\",\"%d\"]`, 26541240+i, 26541328+i)
		if i%5 == 4 {
			b = "null"
		}
		if i < 3 {
			snapshot, sequence = "true", fmt.Sprintf(`[null,\"%d\"]`, 26541240+i)
		}
		ms[i] = fmt.Appendf(nil, `{"a":%d,"b":%s,"source":{"version":"3.0.8.Final","ts_ms":%d,"snapshot":"%s","sequence":"%s","ts_ns":%d,"xmin":null,"list":[1,{"k":"v"}],"ok":true},"transaction":null,"":"%c","ts_ms":%d}`,
			i, b, 1764450000000+i, snapshot, sequence, (1764450000000+i)*1000000, "cud"[i%3], i*i*i)
	}
	return ms
}

// TestPrediction counts what the general code still has to read of a stream of like messages.
func TestPrediction(t *testing.T) {
	sh := testShape()
	var s Scanner
	for i, m := range envelopes(1000) {
		before := sh.prog.misses
		check(t, &s, sh, m)
		if i > 20 && sh.prog.misses != before {
			t.Errorf("message %d was not foreseen: %s", i, m)
		}
	}
}

// TestPredictionAdapts lets parts of the messages change their form: each does so a few times, then it is
// known to vary.
func TestPredictionAdapts(t *testing.T) {
	values := []string{
		`null`, `1`, `-1.5`, `"a1"`, `"b2c3"`, `"\u0031x"`, `{}`, `{"p":1}`, `{"p":1,"q":2}`, `[]`, `[1]`, `[1,2]`, `true`, `""`, `"` + strings.Repeat("long", 1000) + `"`,
		strings.Repeat(`{"p":`, 90) + "1" + strings.Repeat("}", 90),
	}
	sh := testShape()
	var s Scanner
	misses := 0
	for round := range 40 {
		for i, v := range values {
			w := values[(i*5+round)%len(values)]
			m := fmt.Appendf(nil, `{"v":%s,"a":%s,"source":{"w":%s,"x":{"y":%s}},"b":%s}`, v, w, w, v, w)
			before := sh.prog.misses
			check(t, &s, sh, m)
			if round > 3 {
				misses += sh.prog.misses - before
			}
		}
	}
	if misses > 0 {
		t.Errorf("%d messages were not foreseen", misses)
	}
}

// TestLayoutsWithoutEnd has messages of ever new layouts, which must not be learned for ever.
func TestLayoutsWithoutEnd(t *testing.T) {
	sh := testShape()
	var s Scanner
	for i := range 3 * maxLeaves {
		m := fmt.Appendf(nil, `{"k%d":{"l%d":%d},"a":1}`, i, i, i)
		var tok Token
		if err := s.Scan(m, sh, &tok); err != nil || sh.Token(0).I != 1 {
			t.Fatal(err)
		}
	}
	if n := len(sh.prog.leaves); n > 2*maxLeaves+100 {
		t.Errorf("%d leaves are kept", n)
	}
	sh.prog.misses = 0 // learn at once
	many := []byte(`{"a":1,"z":[0` + strings.Repeat(",0", 5*maxLeaves) + `]}`)
	check(t, &s, sh, many)
	if n := len(sh.prog.leaves); n > 2*maxLeaves+100 {
		t.Errorf("%d leaves are kept of one message", n)
	}
	big := []byte(`{"a":1,"z":[` + strings.Repeat(`"0123456789abcdef",`, 2*maxLiterals/19) + `0]}`)
	sh.prog.misses = 0 // learn at once
	check(t, &s, sh, big)
	if len(sh.prog.steps) != 0 {
		t.Errorf("a program of %d steps for a message of %d bytes", len(sh.prog.steps), len(big))
	}
}

// TestPredictionIsStrict damages each byte of a message that the program knows well.
func TestPredictionIsStrict(t *testing.T) {
	sh := testShape()
	var s Scanner
	ms := envelopes(40)
	for _, m := range ms {
		check(t, &s, sh, m)
	}
	good := ms[len(ms)-1]
	for i := range good {
		for _, c := range []byte{0, ' ', '"', '\\', ',', '0', '.', 'e', '}', 0x80, 0xC3} {
			bad := bytes.Clone(good)
			bad[i] = c
			check(t, &s, sh, bad)
			check(t, &s, sh, append(bytes.Clone(good[:i]), append([]byte{c}, good[i:]...)...)) // inserted
			check(t, &s, sh, good)
		}
		check(t, &s, sh, good[:i])
		check(t, &s, sh, append(bytes.Clone(good[:i]), good[i+1:]...))
		sh.prog.misses = 0 // learn at once, so that the damage is read by a program too
		check(t, &s, sh, good)
	}
}

func FuzzPrediction(f *testing.F) {
	for i, m := range envelopes(8) {
		f.Add(m, uint16(i*37), []byte{byte(i)})
		f.Add(m, uint16(i*31), []byte("12"))
	}
	f.Fuzz(func(t *testing.T, m []byte, at uint16, put []byte) {
		var s Scanner
		sh := testShape()
		k := min(int(at), len(m))
		changed := append(bytes.Clone(m[:k]), put...)
		changed = append(changed, m[min(k+len(put), len(m)):]...)
		longer := append(append(bytes.Clone(m[:k]), put...), m[k:]...)
		for _, msg := range [][]byte{m, m, changed, longer, m, changed, changed, longer, longer, m} {
			check(t, &s, sh, msg)
		}
	})
}
