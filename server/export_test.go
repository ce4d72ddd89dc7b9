package server

// Shed has a worker send away connections that run about a share of its commands, as the
// balancer does when it begins a trial.
func (s *Server) Shed(from, to int, share float64, trial int64) {
	w, x := s.workers[from], s.workers[to]
	w.post(func() { w.shed(x, share, trial) })
}

// GiveBack ends a trial that was vain.
func (s *Server) GiveBack(from, to int, trial int64) {
	s.workers[from].takeBack(s.workers[to], trial)
}
