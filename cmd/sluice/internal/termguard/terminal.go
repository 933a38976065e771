package termguard

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminal is a terminal with the modes that it is to have.
type terminal struct {
	in, out *os.File // both are open on it
	modes   unix.Termios
}

func open(in, out *os.File) (*terminal, error) {
	modes, err := unix.IoctlGetTermios(int(in.Fd()), getModes)
	if err != nil {
		return nil, err
	}
	return &terminal{in, out, *modes}, nil
}

const (
	// leave undoes what a live table asks of a terminal: keys that tell more than usual, the other screen, a hidden
	// cursor. A terminal that is not on the other screen puts the cursor where it was saved when it is told to leave it:
	// the place saved first is where it is. Each screen has a saved place of its own, so that on the other screen this
	// does no harm.
	leave = "\x1b[>4m\x1b[<u\x1b7\x1b[?1049l\x1b[?25h"
	// plain undoes what the line editor asks of it: pasted text in brackets, a cursor of another form, colours.
	plain = "\x1b[?2004l\x1b[0 q\x1b[0m"
)

// restore gives the terminal back. A terminal that is gone needs nothing.
func (t *terminal) restore() {
	codes := leave
	// The line editor and the live table take keys that are signals for keys. Where they are signals again, the user's
	// shell was faster: it has modes of its own, and may have its prompt on the screen.
	if now, err := unix.IoctlGetTermios(int(t.in.Fd()), getModes); err == nil && now.Lflag&unix.ISIG == 0 {
		_ = unix.IoctlSetTermios(int(t.in.Fd()), setModes, &t.modes)
		codes += plain
	}
	_, _ = t.out.WriteString(codes)
}
