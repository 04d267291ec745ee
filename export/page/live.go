package page

// Live returns the live page, and the Content-Security-Policy for its header.
func Live() (html []byte, policy string) {
	return []byte("<!doctype html><title>ringtrain</title>"), "default-src 'none'; connect-src 'self'"
}
