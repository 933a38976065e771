package sqltest

// Coverage is what tests have seen of a pipeline: changes by table, view and result.
type Coverage map[string]int64

// cover notes what the case has seen.
func (r *run) cover() {
	c := Coverage{}
	for name, capture := range r.captures {
		c[name] += capture.count()
	}
	for _, j := range r.jobs {
		for table, s := range j.running.Stats().Sources {
			r.read[table] += s.Events
		}
	}
	for _, name := range r.session.Tables() {
		c[name] += r.read[name]
	}
	r.result.Coverage = c
}

// Add adds what another case has seen.
func (c Coverage) Add(o Coverage) {
	for name, n := range o {
		c[name] += n
	}
}
