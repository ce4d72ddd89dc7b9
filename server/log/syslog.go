package log

import (
	"fmt"
	"log/syslog"
)

// facilities are the words of syslog-facility.
var facilities = map[string]syslog.Priority{
	"user": syslog.LOG_USER, "local0": syslog.LOG_LOCAL0, "local1": syslog.LOG_LOCAL1, "local2": syslog.LOG_LOCAL2,
	"local3": syslog.LOG_LOCAL3, "local4": syslog.LOG_LOCAL4, "local5": syslog.LOG_LOCAL5, "local6": syslog.LOG_LOCAL6,
	"local7": syslog.LOG_LOCAL7,
}

// OpenSyslog returns a function for Options.Syslog that writes to the system's
// log under a name and a facility.
func OpenSyslog(ident, facility string) (func(Level, string), error) {
	f, ok := facilities[facility]
	if !ok {
		return nil, fmt.Errorf("no syslog facility %q", facility)
	}
	w, err := syslog.New(f|syslog.LOG_NOTICE, ident)
	if err != nil {
		return nil, err
	}
	return func(v Level, text string) {
		// Lost lines are still in the log file or on standard output.
		_ = send(w, v, text)
	}, nil
}

func send(w *syslog.Writer, v Level, text string) error {
	switch v {
	case Debug:
		return w.Debug(text)
	case Verbose:
		return w.Info(text)
	case Notice:
		return w.Notice(text)
	}
	return w.Warning(text)
}
