package sqlfuzz

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/sluicesql/sluice/internal/oracle"
)

// Outcome is what came of a case.
type Outcome int

// The outcomes.
const (
	Agreed     Outcome = iota
	Refused            // sluice does not take the query
	Unreadable         // the second engine does not
	Failed             // the results differ, or the job ended with an error
)

// Result is a case with what came of it.
type Result struct {
	Seed    uint64
	Outcome Outcome
	Err     error // nil when Agreed
	c       *generated
	engine  oracle.Engine
}

// Run runs the case of a seed.
func Run(seed uint64, has Features, engine oracle.Engine) Result {
	c := generate(seed, has)
	out, err := c.run(engine)
	return Result{seed, out, err, c, engine}
}

func (c *generated) run(engine oracle.Engine) (Outcome, error) {
	return classify(runSafely(c.write(engine.Name()), engine))
}

func classify(err error) (Outcome, error) {
	var plan *oracle.PlanError
	var ref *oracle.ReferenceError
	switch {
	case err == nil:
		return Agreed, nil
	case errors.As(err, &plan):
		return Refused, err
	case errors.As(err, &ref):
		return Unreadable, err
	default:
		return Failed, err
	}
}

// runSafely turns a panic of the planner into a failure. One of a job's goroutines ends the process.
func runSafely(c *oracle.Case, engine oracle.Engine) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return c.Run(engine)
}

// Script is the case as it was generated.
func (r Result) Script() *oracle.Script { return r.c.script(r.Err) }
