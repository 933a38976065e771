// Package scaffold holds the pipeline that sluice init writes: one that runs and is tested as it is.
package scaffold

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluicesql/sluice/internal/fault"
)

//go:embed all:files
var files embed.FS

// placeholder stands for the pipeline's name in the files.
const placeholder = "PIPELINE"

// Write writes the files into dir, which is made where it is missing, and returns their paths. A file that is there
// already is an error that names it, and then nothing is written.
func Write(dir, name string) ([]string, error) {
	root, err := fs.Sub(files, "files")
	if err != nil {
		return nil, err
	}
	var names []string
	err = fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(path))
		if _, err := os.Lstat(to); err == nil {
			return fault.Errorf(fault.File, "%s is there already; nothing was written", to).Fix("name a new folder: sluice init DIR")
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		names = append(names, path)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var written []string
	for _, path := range names {
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return written, err
		}
		to := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return written, err
		}
		if err := os.WriteFile(to, []byte(strings.ReplaceAll(string(text), placeholder, name)), 0o644); err != nil {
			return written, err
		}
		written = append(written, to)
	}
	return written, nil
}
