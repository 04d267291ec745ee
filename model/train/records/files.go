package records

import (
	"context"
	"fmt"
	"os"

	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/input/image"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

// fileNames returns the files of f as the job names them.
func fileNames(f job.Files) []string {
	if f.Format == "idx" || f.Format == "images" {
		return []string{f.Images}
	}
	return f.Files
}

// openSpec opens the files of f, those of a set, by the specification s.
func (o *Opener) openSpec(ctx context.Context, s convert.Spec, set string, f job.Files) (input.Dataset, error) {
	roots := o.opts.Roots
	if f.Format == "idx" {
		var err error
		if s.Images, err = oneFile(roots, f.Images); err != nil {
			return nil, err
		}
		if s.Labels, err = oneFile(roots, f.Labels); err != nil {
			return nil, err
		}
		return convert.Open(ctx, s)
	}
	var err error
	if f.Format == "images" && f.Images != "" {
		if s.Images, err = input.ExpandFolder(roots, f.Images); err != nil {
			return nil, err
		}
		return convert.Open(ctx, s)
	}
	if s.Files, err = o.expandFiles(set, f); err != nil {
		return nil, err
	}
	return convert.Open(ctx, s)
}

// expandFiles finds the files of f, those of a set, "" for files that no key names. A folder stands for its
// text files.
func (o *Opener) expandFiles(set string, f job.Files) ([]string, error) {
	notice := o.opts.Repeated
	if set != "" && notice != nil {
		notice = func(text string) { o.opts.Repeated(set + ": " + text) }
	}
	if f.Format == "tfrecord" {
		return input.Expand(o.opts.Roots, f.Files, notice)
	}
	return input.ExpandText(o.opts.Roots, f.Files, notice)
}

// oneFile finds the one file called name; it returns "" for "".
func oneFile(roots []string, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	files, err := input.Expand(roots, []string{name}, nil)
	if err != nil {
		return "", err
	}
	if len(files) > 1 {
		return "", exitcode.With(exitcode.Usage, fmt.Errorf("%s matches %d files, want one", name, len(files)))
	}
	return files[0], nil
}

// replaceFiles returns f with other files.
func replaceFiles(f job.Files, files []string) (job.Files, error) {
	switch {
	case f.Format == "images" && len(files) == 1 && isFolder(files[0]):
		f.Images = files[0]
	case f.Format == "images":
		f.Images, f.Files = "", files
	case f.Format != "idx":
		f.Files = files
	case len(files) == 1:
		f.Images, f.Labels = files[0], ""
	case len(files) == 2:
		f.Images, f.Labels = files[0], files[1]
	default:
		return f, exitcode.With(exitcode.Usage, fmt.Errorf("%d files, want images with format idx, or images and labels", len(files)))
	}
	return f, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// TrainedClasses returns the names of the classes of the training images. It returns nil if this
// machine does not have the images; the folder that is evaluated must then have all classes.
func (o *Opener) TrainedClasses() []string {
	if o.job.Input.Train.Format != "images" {
		return nil
	}
	folder, err := input.ExpandFolder(o.opts.Roots, o.job.Input.Train.Images)
	if err != nil {
		return nil
	}
	names, err := image.Classes(folder)
	if err != nil {
		return nil
	}
	return names
}
