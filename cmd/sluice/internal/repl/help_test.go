package repl

import (
	"testing"

	"github.com/sluicesql/sluice/connectors/blackhole"
	"github.com/sluicesql/sluice/connectors/datagen"
	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/sql/parser"
)

// What HELP shows as an example is planned as it stands.
func TestHelpExamples(t *testing.T) {
	for _, s := range statements {
		r := spi.NewRegistry()
		datagen.Register(r)
		blackhole.Register(r)
		stmts, err := parser.Parse(s.name, s.example)
		if err == nil {
			_, err = planner.NewSession(r).Run(stmts)
		}
		if err != nil {
			t.Errorf("HELP %s: %v", s.name, err)
		}
	}
}
