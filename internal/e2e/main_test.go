package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sluicesql/sluice/internal/realkafka"
)

// The binary under test. It is built once, with the race detector when the tests
// have it.
var (
	binary     string
	buildFlags []string
)

// shrink divides the sizes and rates of workloads.
var shrink = 1

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sluice-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "sluice")
	args := append([]string{"build"}, buildFlags...)
	build := exec.Command("go", append(args, "-o", binary, "github.com/sluicesql/sluice/cmd/sluice")...)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// kafka is the address of the broker that the tests share. Without one the test
// is skipped.
func kafka(t *testing.T) string {
	t.Helper()
	return realkafka.ForTest(t).Addr()
}
