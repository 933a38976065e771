package repl

import (
	"os"
	"path/filepath"
	"strings"
)

// FileName is the file that the argument of a command names: as it is written, or within quotes. ~/ stands for the home
// directory.
func FileName(arg string) string {
	if n := len(arg); n >= 2 && arg[0] == '\'' && arg[n-1] == '\'' {
		arg = strings.ReplaceAll(arg[1:n-1], "''", "'")
	}
	if rest, ok := strings.CutPrefix(arg, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return arg
}
