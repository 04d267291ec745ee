package model

import "testing"

// TestReview17Goldens reads TensorFlow's numbers with nothing beside the repository.
// If it fails, a clone alone does not compare losses with TensorFlow's.
func TestReview17Goldens(t *testing.T) {
	t.Setenv("RINGTRAIN_SHARED", t.TempDir())
	t.Setenv("CI", "")
	for _, name := range []string{"auc.json", "softmax_xent_sparse.json", "sigmoid_xent_large.json", "squared_error.json"} {
		t.Run("file="+name, func(sub *testing.T) {
			defer func() {
				if sub.Skipped() {
					t.Errorf("%s is not in the repository", name)
				}
			}()
			var v any
			golden(sub, name, &v)
		})
	}
}
