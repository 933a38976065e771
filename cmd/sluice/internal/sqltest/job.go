package sqltest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/planner"
	"github.com/sluicesql/sluice/runtime"
)

// parallelism is the number of shards of a test's jobs where the pipeline says nothing: enough for exchanges to be more
// than one way.
const parallelism = 2

// job is one of the pipeline's jobs, or a SELECT from a table or view that the test looks at.
type job struct {
	plan     *planner.Plan
	stateDir string   // empty when the test never restarts
	result   *capture // of a SELECT; nil otherwise
	running  *runtime.Job
	starts   int
	failed   error // an end that the test has asked for

	mu      sync.Mutex
	cuts    map[uint64][]spi.Position
	covered map[partition]int64 // where the epochs that are done end
	done    int64               // epochs done since the start
	wake    chan struct{}       // has room for one signal

	ending []*endingReader // of the first start
}

type partition struct {
	topic  string
	number int32
}

func newJob(p *planner.Plan) *job {
	return &job{plan: p, cuts: map[uint64][]spi.Position{}, covered: map[partition]int64{}, wake: make(chan struct{}, 1)}
}

// start starts the job, or starts it again from its state directory.
func (r *run) start(ctx context.Context, j *job) error {
	r.opening = j
	j.starts++
	n := parallelism
	if p, err := spi.Options(j.plan.Options).Int(planner.OptParallelism, 0); err == nil && p > 0 {
		n = int(p)
	}
	cfg := runtime.Config{
		Plan: j.plan, Parallelism: n, StateDir: j.stateDir, TimeZone: j.plan.Location(), CheckpointInterval: 50 * time.Millisecond,
		Measure: r.options.Coverage,
		Hooks:   &runtime.Hooks{Check: true, Cut: j.cut, Done: j.epochDone},
		OpenResult: func(spec spi.SinkSpec) (spi.Sink, error) {
			return wrap(nil, j.result, newFormat(spec, j.plan.Sinks[0].PairKey), "result"), nil
		},
	}
	var err error
	j.running, err = runtime.Start(ctx, cfg)
	return err
}

// cut notes where an epoch ends.
func (j *job) cut(epoch uint64, sources map[string][]spi.Position) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, ps := range sources {
		j.cuts[epoch] = append(j.cuts[epoch], ps...)
	}
}

// epochDone notes that an epoch is in the sinks.
func (j *job) epochDone(epoch uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done++
	for _, p := range j.cuts[epoch] {
		j.covered[partition{p.Topic, p.Partition}] = p.Offset
	}
	delete(j.cuts, epoch)
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// opened notes where a source begins.
func (j *job) opened(ps []spi.Position) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, p := range ps {
		at := partition{p.Topic, p.Partition}
		if _, ok := j.covered[at]; !ok {
			j.covered[at] = max(p.Offset, 0)
		}
	}
}

// quiet reports whether all that the job's sources hold is in its sinks.
func (r *run) quiet(j *job) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.starts == 1 {
		for _, e := range j.ending {
			if at := e.endedAt.Load(); at == 0 || at > j.done {
				return false
			}
		}
		if hasValues(j.plan) && j.done == 0 {
			return false
		}
	}
	for p, offset := range j.covered {
		for _, info := range r.broker.Cluster().PartitionInfos(p.topic) {
			if info.Partition == p.number && offset < info.HighWatermark {
				return false
			}
		}
	}
	return true
}

func hasValues(p *planner.Plan) bool {
	for _, in := range p.Inputs() {
		if _, ok := in.Node.(*planner.Values); ok {
			return true
		}
	}
	return false
}

// errEnded is what over gives of a job that has ended by itself in order.
var errEnded = errors.New("ended")

// over is nil while the job runs, errEnded, or the error that it ended with.
func (j *job) over() error {
	if j.failed != nil {
		return errEnded
	}
	select {
	case <-j.running.Finished():
		if err := j.running.Wait(); err != nil {
			return err
		}
		return errEnded
	default:
		return nil
	}
}

// settle waits until all jobs have taken in everything that is in the topics.
func (r *run) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.options.Timeout)
	defer cancel()
	for {
		busy, err := r.busy()
		if busy == nil || err != nil {
			return err
		}
		select {
		case <-busy.wake:
		case <-busy.running.Finished():
		case <-ctx.Done():
			return errNotSettled
		}
	}
}

var errNotSettled = errors.New("the jobs have not taken in all that is in the topics within the time given by --timeout")

// busy is a job that has something to take in yet, or nil. The error is that of a job that has failed.
func (r *run) busy() (*job, error) {
	// Twice: a job may read what another one has written meanwhile.
	for range 2 {
		for _, j := range r.jobs {
			switch err := j.over(); {
			case errors.Is(err, errEnded):
			case err != nil:
				return nil, err
			case !r.quiet(j):
				return j, nil
			}
		}
	}
	return nil, nil
}

// stop ends a job at once.
func (j *job) stop() {
	if j.running != nil {
		j.running.Kill()
		_ = j.running.Wait() // whatever it died of, nobody asked
	}
}
