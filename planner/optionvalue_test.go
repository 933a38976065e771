package planner

import (
	"testing"

	"github.com/sluicesql/sluice/connectors/spi"
)

// TestUnlistedValue: a further spelling passes to the connector, which hints at the right one; others do not.
func TestUnlistedValue(t *testing.T) {
	o := &spi.Option{Name: "scan.startup.mode", Kind: spi.EnumOption, Values: []string{"earliest-offset"}, Unlisted: []string{"earliest"}}
	for value, ok := range map[string]bool{"earliest-offset": true, "earliest": true, "earlist": false} {
		if err := checkValue(o, o.Name, value); (err == nil) != ok {
			t.Errorf("%s: %v", value, err)
		}
	}
}
