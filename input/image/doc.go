// Package image reads folders of PNG and JPEG images, one folder for each class.
//
//	train/cat/a.png      class 0: "cat"      folders sorted by name, byte by byte
//	train/cat/b.jpg
//	train/dog/1.jpeg     class 1: "dog"
//
// Files are images by their names, .png, .jpg or .jpeg in any case, and PNG or JPEG by
// their first bytes. What begins with a dot is passed over, and so is a file beside the
// folders of the classes, unless it is named as an image. Any other file in a class, and
// a folder in it, is refused: otherwise half of the images, .webp perhaps, would be left out
// without a word.
//
// # From a file to a record
//
//	decode ─► 1 or 3 channels ─► resize ─► crop the centre ─► /255
//
// The shape of a record is [height, width, channels]. An image of other size is brought to
// a size whose shorter side is Config.Resize, or to the smallest that covers the shape;
// then its centre is cropped. The longer side is rounded down, and an odd pixel
// too many is cut off at the right or the bottom. Both sizes keep the image's proportions,
// so nothing is stretched.
//
// Resizing is bilinear with a filter that grows with the reduction (a triangle that
// covers all pixels that an output pixel stands for), across and then down, in integers,
// rounded to 8 bits in between: the arithmetic of Pillow's BILINEAR, which torchvision's
// Resize uses; results are within 1 level of 255. TensorFlow's tf.image.resize does it with antialias=True alone.
//
// One channel of a colour PNG is its luma, (299·R + 587·G + 114·B)/1000; that of a JPEG is
// its Y. Three of a grey image are equal. Transparency is dropped, 16 bits are cut to
// 8, and EXIF's orientation is passed over: as in TensorFlow's decoders. JPEGs differ from
// other decoders' by a few levels of 255, more at edges of colour, which are upsampled
// differently.
//
// # Memory
//
// An image is decoded when a batch wants it, by as many goroutines as the rank has cores:
// one image is in memory for each. What a header says is checked against [input.Limits]
// before anything is decoded. Decoding allocates, and each epoch decodes anew: reading ahead
// keeps both off the step. Records of ringtrain data convert are decoded once.
package image
