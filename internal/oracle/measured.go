package oracle

import (
	"fmt"
	"strings"

	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
)

// checkMeasured holds what was measured of a job that ran to its end to itself: what a node gives is what each of its
// readers gets, and the operators' states make up the job's, but for what a durable job has not read from disk.
func checkMeasured(plan *planner.Plan, job *runtime.Job, durable bool) error {
	e := plan.Explanation()
	job.Measure(e)
	nodes := map[int]*planner.ExplainedNode{}
	var state int64
	for _, n := range e.Nodes {
		nodes[n.ID] = n
		m := n.Measured
		state += m.StateRows
		for port, id := range n.Inputs {
			if in := nodes[id]; in.Measured.Out != m.In[port] {
				return fmt.Errorf("#%d %s gives %d changes, and #%d %s gets %d\n%s", id, in.Title, in.Measured.Out, n.ID, n.Title, m.In[port], e.Text())
			}
		}
		if n.Kind == "exchange" && (m.Out > m.In[0] || m.Out < m.In[0] && !strings.Contains(n.Title, "without NULLs")) {
			return fmt.Errorf("of %d changes the exchange #%d hands on %d\n%s", m.In[0], n.ID, m.Out, e.Text())
		}
		if m.Time < 0 || m.StateRows > 0 && len(n.State) == 0 {
			return fmt.Errorf("#%d works for %s and keeps %d rows\n%s", n.ID, m.Time, m.StateRows, e.Text())
		}
	}
	if all := job.Stats().StateRows; state != all && !durable {
		return fmt.Errorf("the operators keep %d rows, and the job %d\n%s", state, all, e.Text())
	}
	return nil
}
