package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"time"

	"github.com/goccy/go-json"

	"github.com/sluicesql/sluice/connectors/spi"
	"github.com/sluicesql/sluice/engine/state"
	"github.com/sluicesql/sluice/internal/fault"
)

// A job with a state directory listens on a socket in it, so that other processes of this machine can ask it for
// things. They speak HTTP:
//
//	GET  /status          a Status
//	GET  /info            an Info
//	POST /pause /resume   answer when it is done
//	POST /savepoint?dir=  likewise; dir is absolute
//	POST /stop[?dir=]     likewise, with a last savepoint; the job ends right after the answer
//
// An answer that is not 200 has the error as its text, and its code and remedy as headers. Who may use the socket is who may write the directory.
const (
	socketFile = "control.sock"
	// socketPathFile names the socket where the directory's path is too long for one.
	socketPathFile = "control.path"
	// maxSocketPath is what fits into a socket's address on all systems.
	maxSocketPath = 100
)

// Status is what a running job says of itself.
type Status struct {
	Job         string    `json:"job"` // its id
	Name        string    `json:"name,omitempty"`
	Dir         string    `json:"dir"`
	PID         int       `json:"pid"`
	Version     string    `json:"version"`
	Started     time.Time `json:"started"`
	Paused      bool      `json:"paused"`
	Silent      bool      `json:"silent,omitempty"` // it did not answer
	Parallelism int       `json:"parallelism"`
	Epochs      uint64    `json:"epochs"`
	Checkpoints uint64    `json:"checkpoints"`
	// Sources and Sinks are by table name.
	Sources    map[string]spi.SourceStats `json:"sources"`
	Sinks      map[string]spi.SinkStats   `json:"sinks"`
	RowsOut    int64                      `json:"rows_out"`
	StateRows  int64                      `json:"state_rows"`
	StateBytes int64                      `json:"state_bytes"`
	Goroutines int                        `json:"goroutines"` // of the process
}

// remote is the listening end of a job.
type remote struct {
	server *http.Server
	files  []string // to be removed
	served chan struct{}
}

// listen opens the control channel. A job runs without one where that fails: it says so.
func (j *Job) listen() {
	if !j.durable() || j.cfg.Hooks != nil && j.cfg.Hooks.FS != nil {
		return
	}
	r, err := j.openRemote()
	if err != nil {
		j.cfg.Warn(fmt.Sprintf("the job cannot be asked for savepoints, pauses and the like: %v", err))
		return
	}
	j.remote = r
}

func (j *Job) openRemote() (*remote, error) {
	dir, err := filepath.Abs(j.cfg.StateDir)
	if err != nil {
		return nil, err
	}
	r := &remote{served: make(chan struct{})}
	path := filepath.Join(dir, socketFile)
	pointer := filepath.Join(dir, socketPathFile)
	if len(path) > maxSocketPath {
		path = filepath.Join(os.TempDir(), "sluice-"+runName(j.id, dir)+".sock")
		if err := os.WriteFile(pointer, []byte(path), 0o600); err != nil {
			return nil, err
		}
		r.files = append(r.files, pointer)
	}
	// The directory's lock is ours, so a socket that is there is of a process that died.
	for _, old := range []string{path, filepath.Join(dir, socketFile)} {
		if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	r.files = append(r.files, path)
	if entry, err := register(runName(j.id, dir), dir); err == nil { // a convenience: sluice jobs finds it
		r.files = append(r.files, entry)
	}
	r.server = &http.Server{Handler: j.handler(dir), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(r.served)
		_ = r.server.Serve(l) // until close
	}()
	return r, nil
}

// close ends the channel. Answers under way have a moment to leave.
func (r *remote) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := r.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = r.server.Close()
	}
	<-r.served
	for _, f := range r.files {
		if rerr := os.Remove(f); rerr != nil && !errors.Is(rerr, os.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}

func (j *Job) handler(dir string) http.Handler {
	mux := http.NewServeMux()
	answerError := func(w http.ResponseWriter, status int, err error) {
		msg, code, hint := fault.Split(err)
		w.Header().Set(codeHeader, string(code))
		w.Header().Set(hintHeader, url.QueryEscape(j.cfg.Redact(hint)))
		http.Error(w, j.cfg.Redact(msg), status)
	}
	get := func(path string, what func() (any, error)) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			v, err := what()
			var b []byte
			if err == nil {
				b, err = json.Marshal(v)
			}
			if err != nil {
				answerError(w, http.StatusInternalServerError, err)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(b)
		})
	}
	post := func(path string, do func(ctx context.Context, target string) error) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			if err := do(r.Context(), r.URL.Query().Get("dir")); err != nil {
				answerError(w, http.StatusConflict, err)
			}
		})
	}
	get("/status", func() (any, error) { return j.status(dir), nil })
	get("/info", func() (any, error) { return j.info() })
	post("/pause", func(ctx context.Context, _ string) error { return j.Pause(ctx) })
	post("/resume", func(ctx context.Context, _ string) error { return j.Resume(ctx) })
	post("/savepoint", j.Savepoint)
	post("/stop", func(ctx context.Context, target string) error {
		if target == "" {
			j.Stop()
			return nil
		}
		return j.StopWithSavepoint(ctx, target)
	})
	return mux
}

// The headers of an answer that is an error.
const (
	codeHeader = "Sluice-Code"
	hintHeader = "Sluice-Hint"
)

// readError is the error that an answer holds.
func readError(h http.Header, text []byte) error {
	hint, err := url.QueryUnescape(h.Get(hintHeader))
	if err != nil {
		hint = ""
	}
	return fault.Errorf(fault.Code(h.Get(codeHeader)), "%s", strings.TrimSpace(string(text))).Fix("%s", hint)
}

func (j *Job) status(dir string) Status {
	s := j.Stats()
	return Status{
		Job: j.id, Name: j.jobName(), Dir: dir, PID: os.Getpid(), Version: j.cfg.Version, Started: j.started.UTC(), Paused: j.Paused(),
		Parallelism: j.cfg.Parallelism, Epochs: s.Epochs, Checkpoints: s.Checkpoints, Sources: s.Sources, Sinks: s.Sinks,
		RowsOut: s.RowsOut, StateRows: s.StateRows, StateBytes: s.StateBytes, Goroutines: goruntime.NumGoroutine(),
	}
}

// Remote is the control channel of a running job, seen from another process.
type Remote struct {
	dir    string
	client *http.Client
}

// ErrNotRunning says that no job runs on a state directory.
var ErrNotRunning error = fault.Errorf(fault.JobUnknown, "no job runs on it").Fix("sluice jobs lists those that run")

// Dial finds the job that runs on a state directory. The error is ErrNotRunning (wrapped) when there is none.
func Dial(dir string) (*Remote, error) {
	path := filepath.Join(dir, socketFile)
	if b, err := os.ReadFile(filepath.Join(dir, socketPathFile)); err == nil {
		path = strings.TrimSpace(string(b))
	}
	r := &Remote{dir: dir}
	r.client = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		},
		DisableKeepAlives: true,
	}}
	conn, err := net.Dial("unix", path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, ErrNotRunning)
	}
	return r, conn.Close()
}

// statusPatience is how long a job may take to say how it is, which costs it next to nothing.
const statusPatience = 5 * time.Second

// Status asks the job how it is. A process that is stopped, or stuck, is an error after some seconds.
func (r *Remote) Status() (*Status, error) {
	ctx, cancel := context.WithTimeout(context.Background(), statusPatience)
	defer cancel()
	s := &Status{}
	err := r.get(ctx, "status", s)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fault.Errorf(fault.JobRequest, "the job of %s does not answer within %v", r.dir, statusPatience).
			Fix("see whether its process is stopped or gets no processor time; kill -QUIT ends it and prints where it stands")
	}
	return s, err
}

// Info asks the job what its state directory holds.
func (r *Remote) Info() (*Info, error) {
	i := &Info{}
	return i, r.get(context.Background(), "info", i)
}

// Pause has the job read nothing more, see Job.Pause.
func (r *Remote) Pause() error { return r.post("pause", "") }

// Resume ends a pause.
func (r *Remote) Resume() error { return r.post("resume", "") }

// Savepoint copies the job's state into a new or empty directory.
func (r *Remote) Savepoint(dir string) error { return r.post("savepoint", dir) }

// Stop stops the job in order, with a last savepoint unless savepoint is empty, and returns when it has let go of
// its state directory.
func (r *Remote) Stop(savepoint string) error {
	if err := r.post("stop", savepoint); err != nil {
		return err
	}
	for ; ; time.Sleep(20 * time.Millisecond) {
		if _, err := Dial(r.dir); err == nil {
			continue
		}
		if used, err := state.InUse(state.DefaultFS, r.dir); err != nil || !used {
			return err
		}
	}
}

func (r *Remote) get(ctx context.Context, what string, v any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://job/"+what, nil)
	if err != nil {
		return err
	}
	resp, err := r.client.Do(req)
	return r.read(resp, err, v)
}

func (r *Remote) post(what, dir string) error {
	target := "http://job/" + what
	if dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		target += "?dir=" + url.QueryEscape(abs)
	}
	resp, err := r.client.Post(target, "", nil)
	return r.read(resp, err, nil)
}

func (r *Remote) read(resp *http.Response, err error, v any) error {
	if err != nil {
		return fault.Errorf(fault.JobUnknown, "the job of %s: %w", r.dir, err).Fix("it may have ended: sluice jobs lists those that run")
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return fault.Errorf(fault.JobUnknown, "the job of %s: %w", r.dir, err).Fix("it may have ended: sluice jobs lists those that run")
	case resp.StatusCode != http.StatusOK:
		return readError(resp.Header, b)
	case v == nil:
		return nil
	}
	return json.Unmarshal(b, v)
}
