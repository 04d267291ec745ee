package report

// Waiting reports the missing ranks of an incomplete start.
type Waiting struct {
	Present   int       `json:"present"`
	WorldSize int       `json:"world_size"`
	Missing   []Missing `json:"missing"`
	Remaining Seconds   `json:"remaining_s"`
}

// Missing is a rank that has not joined.
type Missing struct {
	Rank    int     `json:"rank"`
	Address string  `json:"address"`
	Reason  string  `json:"reason"`
	For     Seconds `json:"missing_s"`
}

// Failure reports the end of a job by its first cause.
type Failure struct {
	Rank      int    `json:"rank"` // -1: none
	Host      string `json:"host"`
	Step      int64  `json:"step"` // -1: none
	Operation string `json:"operation"`
	Peer      string `json:"peer"`
	Cause     string `json:"cause"`
	ExitCode  int    `json:"exit_code"`
	Doc       string `json:"doc"` // the entry of the manual, as ringtrain help takes it; "": none
}
