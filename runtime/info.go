package runtime

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/goccy/go-json"

	"github.com/sluicesql/sluice/engine/state"
)

// Info is what a state directory, or a savepoint, holds.
type Info struct {
	Dir string `json:"dir"`
	// Running says that a job uses the directory at the moment: it told what is here.
	Running bool `json:"running"`
	// Savepoint says what the directory is a savepoint of; nil when it is none. Restored is the savepoint from
	// which the state came.
	Savepoint *SavepointNote `json:"savepoint,omitempty"`
	Restored  *SavepointNote `json:"restored,omitempty"`
	// Format is the version of the directory's format, Version that of the sluice that wrote the plan.
	Format  int    `json:"format"`
	Version string `json:"version"`
	// Job is the job's id, Name its pipeline.name. Generation counts the savepoints that lie between the job's
	// first start and this state.
	Job         string `json:"job"`
	Name        string `json:"name,omitempty"`
	Generation  uint64 `json:"generation"`
	Paused      bool   `json:"paused"`
	Fingerprint string `json:"fingerprint"`
	// Checkpoint is the epoch of the last checkpoint, Time when the epoch after it began.
	Checkpoint uint64    `json:"checkpoint"`
	Time       time.Time `json:"time"`
	// Logged is the number of epochs after it that the next start repeats.
	Logged    int             `json:"logged_epochs"`
	Positions []InputPosition `json:"positions"`
	// Pending is the output that waits to be delivered, in bytes by sink.
	Pending   map[string]int64 `json:"pending_output,omitempty"`
	Skips     []Skip           `json:"skips,omitempty"`
	Operators []OperatorInfo   `json:"operators"`
	// Disk is the size of the state's tables on disk, in bytes.
	Disk    int64  `json:"disk_bytes"`
	SQL     string `json:"sql"`
	Explain string `json:"explain"`
}

// InputPosition is how far a partition of an input was read: Offset is the next to read.
type InputPosition struct {
	Input     string `json:"input"`
	Topic     string `json:"topic,omitempty"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

// OperatorInfo is an operator with state.
type OperatorInfo struct {
	Title     string      `json:"title"`
	Signature string      `json:"signature"`
	Reads     []string    `json:"reads"`
	Tables    []TableInfo `json:"tables"`
}

// TableInfo is one table of an operator's state.
type TableInfo struct {
	ID    uint16 `json:"id"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
}

// SavepointNote says what a savepoint is of.
type SavepointNote struct {
	Job        string    `json:"job"`
	Generation uint64    `json:"generation"`
	Checkpoint uint64    `json:"checkpoint"`
	Time       time.Time `json:"time"`
	Version    string    `json:"version"`
	// Path is where the savepoint was when state was restored from it.
	Path string `json:"path,omitempty"`
}

// ReadInfo tells what is in a state directory or savepoint. It asks the running job where there is one. It changes
// nothing. A nil fs is the operating system's.
func ReadInfo(fs state.FS, dir string) (*Info, error) {
	if fs == nil {
		fs = state.DefaultFS
	}
	store, err := state.Open(state.Options{Dir: dir, FS: fs, ReadOnly: true})
	if _, locked := errors.AsType[*state.LockedError](err); locked {
		r, derr := Dial(dir)
		if derr != nil {
			return nil, errors.Join(err, derr)
		}
		return r.Info()
	}
	if err != nil {
		return nil, err
	}
	info, err := readInfo(fs, dir, store)
	return info, errors.Join(err, store.Close())
}

func readInfo(fs state.FS, dir string, store *state.Store) (*Info, error) {
	i := &Info{Dir: dir, Format: state.FormatVersion, Disk: store.Stats().Disk}
	note, savepoint, err := state.ReadNote(fs, dir)
	if err != nil {
		return nil, err
	}
	if note != nil {
		n := &SavepointNote{}
		if err := json.Unmarshal(note, n); err != nil {
			return nil, state.Damaged("%s holds no readable note of its savepoint: %w", dir, err)
		}
		if savepoint {
			i.Savepoint = n
		} else {
			i.Restored = n
		}
	}
	meta := func(key string) string {
		v, merr := store.Meta(key)
		err = errors.Join(err, merr)
		return string(v)
	}
	i.Job, i.Paused = meta(jobIDKey), meta(pausedKey) != ""
	if g := meta(generationKey); g != "" {
		i.Generation, _ = strconv.ParseUint(g, 10, 64)
	}
	plan, skips := meta(planKey), meta(skipsKey)
	if err != nil || store.Cut() == nil {
		return i, err // nothing has run yet
	}
	if skips != "" {
		if i.Skips, err = decodeSkips([]byte(skips), dir); err != nil {
			return nil, err
		}
	}
	was, err := decodePlan([]byte(plan), dir, "")
	if err != nil {
		return nil, err
	}
	i.Version, i.Name, i.Fingerprint, i.SQL, i.Explain = was.Version, was.Name, was.Fingerprint, was.SQL, was.Explain
	if err := i.addCut(fs, dir, store.Cut()); err != nil {
		return nil, err
	}
	return i, i.addOperators(was, store)
}

// addCut adds what the last checkpoint says, and the epoch log.
func (i *Info) addCut(fs state.FS, dir string, b []byte) error {
	last, err := decodeCut(b, dir)
	if err != nil {
		return err
	}
	i.Checkpoint, i.Time = last.Epoch, time.UnixMilli(last.NextTime).UTC()
	for name, ps := range last.Sources {
		for _, p := range ps {
			i.Positions = append(i.Positions, InputPosition{name, p.Topic, p.Partition, p.Offset})
		}
	}
	slices.SortFunc(i.Positions, func(a, b InputPosition) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	if last.Outbox != nil {
		for sink := range last.Outbox.Sinks {
			n, err := last.Outbox.waiting(fs, dir, sink)
			if err != nil {
				return err
			}
			if n > 0 {
				if i.Pending == nil {
					i.Pending = map[string]int64{}
				}
				i.Pending[sink] = n
			}
		}
	}
	logged, err := state.ReadLog(fs, dir)
	if err != nil {
		return err
	}
	for _, e := range logged {
		c, err := decodeCut(e, "the epoch log in "+dir)
		if err != nil {
			return err
		}
		if c.Epoch > last.Epoch {
			i.Logged++
		}
	}
	return nil
}

// addOperators counts the rows of every operator's tables.
func (i *Info) addOperators(was *planRecord, store *state.Store) error {
	tables := map[uint16]*TableInfo{}
	for _, o := range was.Operators {
		info := OperatorInfo{Title: o.Title, Signature: o.Signature, Reads: o.Reads, Tables: make([]TableInfo, len(o.Tables))}
		for k, id := range o.Tables {
			info.Tables[k].ID = id
			tables[id] = &info.Tables[k]
		}
		i.Operators = append(i.Operators, info)
	}
	return store.Each(func(e state.StoredEntry) error {
		t := tables[e.Table]
		if t == nil {
			return state.Damaged("it holds rows of table %d, which its plan does not have", e.Table)
		}
		t.Rows++
		t.Bytes += int64(e.Bytes)
		return nil
	})
}

// info is ReadInfo of the running job.
func (j *Job) info() (*Info, error) {
	i, err := readInfo(j.fs(), j.cfg.StateDir, j.store)
	if err == nil {
		i.Running = true
	}
	return i, err
}

// savepointNote describes the last checkpoint.
func (j *Job) savepointNote() ([]byte, error) {
	last, err := decodeCut(j.store.Cut(), j.cfg.StateDir)
	if err != nil {
		return nil, err
	}
	return json.Marshal(SavepointNote{Job: j.id, Generation: j.generation, Checkpoint: last.Epoch, Time: time.Now().UTC().Truncate(time.Millisecond), Version: j.cfg.Version})
}
