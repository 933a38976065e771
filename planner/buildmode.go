package planner

import (
	"slices"
	"strings"

	"github.com/sluicesql/sluice/connectors/spi"
)

// stableMetadata are the metadata keys, without a format's prefix, that are the same in all events of one
// row. The others, such as an offset, differ between the event that adds a row and the one that takes it
// back.
var stableMetadata = []string{"topic", "partition", "timestamp-type", "source.database", "source.schema", "source.table"}

// settleModes changes the mode of tables of which columns are in use that only some modes can deliver. It
// runs after pruning, when the columns in use are known.
func (b *builder) settleModes() error {
	for _, t := range b.tables {
		scans := b.scans[t]
		src := scans[0].src
		col := b.unstableColumn(scans)
		if src.mode != spi.Retract || col == "" {
			continue
		}
		// The row that an event takes back carries that event's metadata, so that it would match no row.
		// Kept by key, the row that was shown comes from the state.
		if len(src.table.PrimaryKey) == 0 || !src.traits.CanUpsert {
			return hint(errAt(src.ref, "the metadata column %q of %s cannot be used: the event that deletes a row carries other metadata than the one that added it", col, src.table.Name),
				"declare a PRIMARY KEY, so that rows are kept by key")
		}
		for _, s := range scans {
			s.src.mode = spi.Upsert
			s.src.why = "its metadata column " + col + " differs between the events of one row, so that rows are kept by key"
		}
	}
	return nil
}

// unstableColumn is the first metadata column in use that differs between the events of one row.
func (b *builder) unstableColumn(scans []*relScan) string {
	for _, s := range scans {
		for i, c := range s.src.spec.Columns {
			key := strings.TrimPrefix(c.Metadata, "value.")
			if c.Metadata != "" && slices.Contains(s.need, s.ids[i]) && !slices.Contains(stableMetadata, key) {
				return c.Name
			}
		}
	}
	return ""
}
