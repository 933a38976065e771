package expr

import (
	"github.com/sluicesql/sluice/engine/row"
	"github.com/sluicesql/sluice/engine/text"
	"github.com/sluicesql/sluice/engine/types"
)

// clockFunctions are those of the current time, which is the epoch's: it stands still within an epoch and is
// logged with it.
func clockFunctions() []*Function {
	now := func(name string, aliases []string, t types.Type, help string) *Function {
		return &Function{
			Name: name, Aliases: aliases, Category: Temporal, Signature: name, Help: help, Volatile: true, show: showBare,
			bind: noArgs(t), build: buildNow,
		}
	}
	f := now("NOW", []string{"CURRENT_ROW_TIMESTAMP"}, types.TimestampLTZOf(3), "The epoch's time.")
	f.Signature, f.show = "NOW()", nil
	return []*Function{
		now("CURRENT_TIMESTAMP", nil, types.TimestampLTZOf(3), "The epoch's time."), f,
		now("LOCALTIMESTAMP", nil, types.TimestampOf(3), "The epoch's time in the session's time zone."),
		now("CURRENT_DATE", nil, types.Of(types.Date), "The epoch's date in the session's time zone."),
		now("LOCALTIME", []string{"CURRENT_TIME"}, types.Type{Kind: types.Time}, "The epoch's time of day in the session's time zone."),
	}
}

func buildNow(call *Call, _ []Fn) (Fn, error) {
	write := fromMoment(call.T)
	if call.T.Kind == types.TimestampLTZ {
		return func(c *Ctx, _ row.Row) row.Datum { return row.Int(c.Now - text.FloorMod(c.Now, 1000)) }, nil
	}
	return func(c *Ctx, _ row.Row) row.Datum {
		days, nanos := text.SplitMicros(c.Now)
		days, nanos = text.ToLocal(c.Zone, days, nanos)
		d, err := write(c, days, nanos)
		if err != nil {
			return c.fail(err)
		}
		return d
	}, nil
}
