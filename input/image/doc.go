// Package image reads folders of PNG and JPEG images, one folder for each class.
//
//	train/cat/a.png      class 0: "cat"      folders sorted by name, byte by byte
//	train/cat/b.jpg
//	train/dog/1.jpeg     class 1: "dog"
//
// The names of images end in .png, .jpg or .jpeg in any case; the first bytes of a file
// decide between PNG and JPEG. Names that begin with a dot, Thumbs.db and desktop.ini are
// ignored, and so are files beside the folders of the classes, unless they have the name of
// an image. Any other file or folder in a class is an error: otherwise images of an unsupported format, such
// as .webp, would silently be missing.
//
// # From a file to a record
//
//	decode ─► 1 or 3 channels ─► resize ─► crop the centre ─► /255
//
// The shape of a record is [height, width, channels]. An image of another size is
// resized so that its shorter side is Config.Resize, or to the smallest size that covers
// the shape. Then its centre is cropped. The longer side is rounded down, and an odd
// surplus pixel is removed at the right or the bottom. Resizing keeps the proportions.
//
// Resizing is bilinear with a filter that grows with the reduction (a triangle that
// covers all source pixels of an output pixel), horizontally and then vertically, in
// integers, rounded to 8 bits in between. This is the arithmetic of Pillow's BILINEAR,
// which torchvision's Resize uses; results are within 1 level of 255. TensorFlow's
// tf.image.resize does the same with antialias=True only.
//
// One channel of a colour PNG is its luma, (299·R + 587·G + 114·B)/1000; that of a JPEG
// is its Y. The three channels of a grey image are equal. As in TensorFlow's decoders,
// transparency is dropped, 16 bits are truncated to 8, and the EXIF orientation is
// ignored. Chroma of half the width or height is interpolated as libjpeg does; levels are
// within 3 of libjpeg's 255, and within half a level on average.
//
// # Memory
//
// An image is decoded for each batch by as many goroutines as the rank has cores, with
// one image in memory for each. The header is checked against [input.Limits] before the
// decoding. Decoding allocates and repeats in each epoch; prefetching keeps both off the
// step. ringtrain data convert makes records that are decoded only once.
package image
