package debezium

import (
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/types"
)

func pair(id int64, v string) row.Row {
	var b row.Builder
	b.Begin(nil, 2)
	b.Int64(0, id)
	if v != "" {
		b.String(1, v)
	}
	return row.Row(b.Finish(nil))
}

// TestEncode reads back what is written.
func TestEncode(t *testing.T) {
	for _, c := range []struct {
		before, after row.Row
		want, back    string
	}{
		{nil, pair(1, "a"), `{"before":null,"after":{"id":1,"v":"a"},"op":"c"}`, "+I(1, a)"},
		{pair(1, "a"), nil, `{"before":{"id":1,"v":"a"},"after":null,"op":"d"}`, "-D(1, a)"},
		{pair(1, "a"), pair(1, ""), `{"before":{"id":1,"v":"a"},"after":{"id":1,"v":null},"op":"u"}`, "-U(1, a) +U(1, NULL)"},
		{nil, pair(-9007199254740993, "\"\\\x00é😀\u2028"), "{\"before\":null,\"after\":{\"id\":-9007199254740993,\"v\":\"\\\"\\\\\\u0000é😀\u2028\"},\"op\":\"c\"}", "+I(-9007199254740993, \"\\\x00é😀\u2028)"},
	} {
		cols := []spi.Column{col("id", types.Of(types.BigInt)), col("v", types.String())}
		e, err := Format{}.NewEncoder(spi.EncodeSpec{Columns: cols, Mode: spi.Retract}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !e.Updates() {
			t.Error("an update is one message")
		}
		got, err := e.Encode([]byte("x"), c.before, c.after)
		if err != nil || string(got) != "x"+c.want {
			t.Errorf("%s %v", got, err)
		}
		if back, err := open(t, spi.DecodeSpec{Columns: cols, Mode: spi.Retract}, nil).feed("", string(got[1:])); err != nil || back != c.back {
			t.Errorf("read back %s %v", back, err)
		}
		if _, err := e.Encode(nil, nil, nil); err == nil {
			t.Error("nothing was encoded")
		}
	}
}
