package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/goccy/go-json"

	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/internal/fault"
)

// restoredKey is where a state directory keeps the note of the savepoint that its generation was raised for.
const restoredKey = "restored"

// restore makes the state directory of a savepoint, where the job is to start from one. A directory that was made
// of this savepoint before goes on from where it is: the same command line starts and restarts a job.
func (j *Job) restore() error {
	from, dir := j.cfg.FromSavepoint, j.cfg.StateDir
	if from == "" {
		return nil
	}
	if dir == "" {
		return fault.Errorf(fault.Savepoint, "a job that starts from a savepoint needs a state directory of its own").Fix("give it one by --state-dir")
	}
	fs := j.fs()
	note, savepoint, err := state.ReadNote(fs, from)
	if err != nil {
		return err
	}
	if !savepoint {
		return fault.Errorf(fault.Savepoint, "%s is no savepoint", from).Fix("name a folder that sluice savepoint has written to its end")
	}
	was, _, err := state.ReadNote(fs, dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if was != nil {
		a, b := SavepointNote{}, SavepointNote{}
		if err := errors.Join(json.Unmarshal(note, &a), json.Unmarshal(was, &b)); err != nil {
			return err
		}
		if b.Path = ""; a == b {
			return nil
		}
	}
	return state.Restore(fs, from, dir, func(b []byte) ([]byte, error) {
		var n SavepointNote
		if err := json.Unmarshal(b, &n); err != nil {
			return nil, err
		}
		if n.Path, err = filepath.Abs(from); err != nil {
			return nil, err
		}
		return json.Marshal(n)
	})
}

// raise raises the generation of a directory that was made of a savepoint, once: output of the job that the savepoint
// is of and output of this one are told apart by it. A pause of that job is not this one's.
func (j *Job) raise() error {
	note, _, err := state.ReadNote(j.fs(), j.cfg.StateDir)
	if err != nil || note == nil {
		return err
	}
	was, err := j.store.Meta(restoredKey)
	if err != nil || bytes.Equal(was, note) {
		return err
	}
	j.generation++
	return j.store.Edit(state.Edit{Meta: map[string][]byte{
		pausedKey: nil, restoredKey: note, generationKey: strconv.AppendUint(nil, j.generation, 10),
	}})
}

// CopySavepoint makes a savepoint of a state directory that no job uses. What a job that did not end in order left
// to its next start is part of it.
func CopySavepoint(dir, target, version string) error {
	fs := state.DefaultFS
	if _, savepoint, err := state.ReadNote(fs, dir); err != nil {
		return err
	} else if savepoint {
		return fault.Errorf(fault.Savepoint, "%s is a savepoint already", dir).
			Fix("copy it as any directory")
	}
	store, err := state.Open(state.Options{Dir: dir, FS: fs, MustExist: true})
	if err != nil {
		return err
	}
	err = copySavepoint(store, dir, target, version)
	return errors.Join(err, store.Close())
}

func copySavepoint(store *state.Store, dir, target, version string) error {
	if store.Cut() == nil {
		return fault.Errorf(fault.StateDirectory, "%s holds no checkpoint: no job has run on it", dir).Fix("name the state directory of a job that has run")
	}
	j := &Job{cfg: Config{StateDir: dir, Version: version}, store: store}
	if err := j.identify(); err != nil {
		return err
	}
	note, err := j.savepointNote()
	if err != nil {
		return err
	}
	return store.Savepoint(target, note, true)
}

// SetPaused pauses, or resumes, a job that does not run at the moment.
func SetPaused(dir string, paused bool) error {
	store, err := state.Open(state.Options{Dir: dir, MustExist: true})
	if err != nil {
		return err
	}
	var v []byte
	if paused {
		v = fmt.Append(nil, time.Now().UTC().Format(time.RFC3339))
	}
	err = store.Edit(state.Edit{Meta: map[string][]byte{pausedKey: v}})
	return errors.Join(err, store.Close())
}
