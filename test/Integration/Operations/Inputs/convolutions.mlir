// Convolutions and poolings of the linalg dialect.

// Ops: linalg.conv_1d linalg.conv_2d linalg.conv_3d linalg.conv_1d_ncw_fcw linalg.conv_1d_nwc_wcf
//   linalg.conv_2d_nchw_fchw linalg.conv_2d_ngchw_fgchw linalg.conv_2d_ngchw_gfchw
//   linalg.conv_2d_nhwc_fhwc linalg.conv_2d_nhwc_hwcf linalg.conv_2d_nhwgc_gfhwc
//   linalg.conv_3d_ncdhw_fcdhw linalg.conv_3d_ndhwc_dhwcf linalg.depthwise_conv_1d_ncw_cw
//   linalg.depthwise_conv_1d_nwc_wc linalg.depthwise_conv_1d_nwc_wcm
//   linalg.depthwise_conv_2d_nchw_chw linalg.depthwise_conv_2d_nhwc_hwc
//   linalg.depthwise_conv_2d_nhwc_hwcm linalg.depthwise_conv_3d_ncdhw_cdhw
//   linalg.depthwise_conv_3d_ndhwc_dhwc linalg.depthwise_conv_3d_ndhwc_dhwcm
// How: one more parallel loop
func.func private @convolutions(%x6: tensor<6xf32>, %W2: tensor<2xf32>, %x5x6: tensor<5x6xf32>, %W2x2: tensor<2x2xf32>, %x4x5x6: tensor<4x5x6xf32>, %W2x2x2: tensor<2x2x2xf32>, %x1x2x6: tensor<1x2x6xf32>, %W3x2x2: tensor<3x2x2xf32>, %x1x6x2: tensor<1x6x2xf32>, %W2x2x3: tensor<2x2x3xf32>, %x1x2x5x6: tensor<1x2x5x6xf32>, %W3x2x2x2: tensor<3x2x2x2xf32>, %x1x2x2x5x6: tensor<1x2x2x5x6xf32>, %W3x2x2x2x2: tensor<3x2x2x2x2xf32>, %W2x3x2x2x2: tensor<2x3x2x2x2xf32>, %x1x5x6x2: tensor<1x5x6x2xf32>, %W2x2x2x3: tensor<2x2x2x3xf32>, %x1x5x6x2x2: tensor<1x5x6x2x2xf32>, %x1x2x4x5x6: tensor<1x2x4x5x6xf32>, %x1x4x5x6x2: tensor<1x4x5x6x2xf32>, %W2x2x2x2x3: tensor<2x2x2x2x3xf32>, %W2x2x2x2: tensor<2x2x2x2xf32>, %W2x2x2x2x2: tensor<2x2x2x2x2xf32>)
    -> (tensor<5xf32>, tensor<4x5xf32>, tensor<3x4x5xf32>, tensor<1x3x5xf32>, tensor<1x5x3xf32>, tensor<1x3x4x5xf32>, tensor<1x2x3x4x5xf32>, tensor<1x2x3x4x5xf32>, tensor<1x4x5x3xf32>, tensor<1x4x5x3xf32>, tensor<1x4x5x2x3xf32>, tensor<1x3x3x4x5xf32>, tensor<1x3x4x5x3xf32>, tensor<1x2x5xf32>, tensor<1x5x2xf32>, tensor<1x5x2x2xf32>, tensor<1x2x4x5xf32>, tensor<1x4x5x2xf32>, tensor<1x4x5x2x2xf32>, tensor<1x2x3x4x5xf32>, tensor<1x3x4x5x2xf32>, tensor<1x3x4x5x2x2xf32>) {
  %z5 = arith.constant dense<0.0> : tensor<5xf32>
  %z4x5 = arith.constant dense<0.0> : tensor<4x5xf32>
  %z3x4x5 = arith.constant dense<0.0> : tensor<3x4x5xf32>
  %z1x3x5 = arith.constant dense<0.0> : tensor<1x3x5xf32>
  %z1x5x3 = arith.constant dense<0.0> : tensor<1x5x3xf32>
  %z1x3x4x5 = arith.constant dense<0.0> : tensor<1x3x4x5xf32>
  %z1x2x3x4x5 = arith.constant dense<0.0> : tensor<1x2x3x4x5xf32>
  %z1x4x5x3 = arith.constant dense<0.0> : tensor<1x4x5x3xf32>
  %z1x4x5x2x3 = arith.constant dense<0.0> : tensor<1x4x5x2x3xf32>
  %z1x3x3x4x5 = arith.constant dense<0.0> : tensor<1x3x3x4x5xf32>
  %z1x3x4x5x3 = arith.constant dense<0.0> : tensor<1x3x4x5x3xf32>
  %z1x2x5 = arith.constant dense<0.0> : tensor<1x2x5xf32>
  %z1x5x2 = arith.constant dense<0.0> : tensor<1x5x2xf32>
  %z1x5x2x2 = arith.constant dense<0.0> : tensor<1x5x2x2xf32>
  %z1x2x4x5 = arith.constant dense<0.0> : tensor<1x2x4x5xf32>
  %z1x4x5x2 = arith.constant dense<0.0> : tensor<1x4x5x2xf32>
  %z1x4x5x2x2 = arith.constant dense<0.0> : tensor<1x4x5x2x2xf32>
  %z1x3x4x5x2 = arith.constant dense<0.0> : tensor<1x3x4x5x2xf32>
  %z1x3x4x5x2x2 = arith.constant dense<0.0> : tensor<1x3x4x5x2x2xf32>
  %0 = linalg.conv_1d ins(%x6, %W2 : tensor<6xf32>, tensor<2xf32>) outs(%z5 : tensor<5xf32>) -> tensor<5xf32>
  %1 = linalg.conv_2d ins(%x5x6, %W2x2 : tensor<5x6xf32>, tensor<2x2xf32>) outs(%z4x5 : tensor<4x5xf32>) -> tensor<4x5xf32>
  %2 = linalg.conv_3d ins(%x4x5x6, %W2x2x2 : tensor<4x5x6xf32>, tensor<2x2x2xf32>) outs(%z3x4x5 : tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  %3 = linalg.conv_1d_ncw_fcw {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%x1x2x6, %W3x2x2 : tensor<1x2x6xf32>, tensor<3x2x2xf32>) outs(%z1x3x5 : tensor<1x3x5xf32>) -> tensor<1x3x5xf32>
  %4 = linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%x1x6x2, %W2x2x3 : tensor<1x6x2xf32>, tensor<2x2x3xf32>) outs(%z1x5x3 : tensor<1x5x3xf32>) -> tensor<1x5x3xf32>
  %5 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x1x2x5x6, %W3x2x2x2 : tensor<1x2x5x6xf32>, tensor<3x2x2x2xf32>) outs(%z1x3x4x5 : tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
  %6 = linalg.conv_2d_ngchw_fgchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x1x2x2x5x6, %W3x2x2x2x2 : tensor<1x2x2x5x6xf32>, tensor<3x2x2x2x2xf32>) outs(%z1x2x3x4x5 : tensor<1x2x3x4x5xf32>) -> tensor<1x2x3x4x5xf32>
  %7 = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x1x2x2x5x6, %W2x3x2x2x2 : tensor<1x2x2x5x6xf32>, tensor<2x3x2x2x2xf32>) outs(%z1x2x3x4x5 : tensor<1x2x3x4x5xf32>) -> tensor<1x2x3x4x5xf32>
  %8 = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x1x5x6x2, %W3x2x2x2 : tensor<1x5x6x2xf32>, tensor<3x2x2x2xf32>) outs(%z1x4x5x3 : tensor<1x4x5x3xf32>) -> tensor<1x4x5x3xf32>
  %9 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x1x5x6x2, %W2x2x2x3 : tensor<1x5x6x2xf32>, tensor<2x2x2x3xf32>) outs(%z1x4x5x3 : tensor<1x4x5x3xf32>) -> tensor<1x4x5x3xf32>
  %10 = linalg.conv_2d_nhwgc_gfhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x1x5x6x2x2, %W2x3x2x2x2 : tensor<1x5x6x2x2xf32>, tensor<2x3x2x2x2xf32>) outs(%z1x4x5x2x3 : tensor<1x4x5x2x3xf32>) -> tensor<1x4x5x2x3xf32>
  %11 = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%x1x2x4x5x6, %W3x2x2x2x2 : tensor<1x2x4x5x6xf32>, tensor<3x2x2x2x2xf32>) outs(%z1x3x3x4x5 : tensor<1x3x3x4x5xf32>) -> tensor<1x3x3x4x5xf32>
  %12 = linalg.conv_3d_ndhwc_dhwcf {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%x1x4x5x6x2, %W2x2x2x2x3 : tensor<1x4x5x6x2xf32>, tensor<2x2x2x2x3xf32>) outs(%z1x3x4x5x3 : tensor<1x3x4x5x3xf32>) -> tensor<1x3x4x5x3xf32>
  %13 = linalg.depthwise_conv_1d_ncw_cw {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%x1x2x6, %W2x2 : tensor<1x2x6xf32>, tensor<2x2xf32>) outs(%z1x2x5 : tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
  %14 = linalg.depthwise_conv_1d_nwc_wc {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%x1x6x2, %W2x2 : tensor<1x6x2xf32>, tensor<2x2xf32>) outs(%z1x5x2 : tensor<1x5x2xf32>) -> tensor<1x5x2xf32>
  %15 = linalg.depthwise_conv_1d_nwc_wcm {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%x1x6x2, %W2x2x2 : tensor<1x6x2xf32>, tensor<2x2x2xf32>) outs(%z1x5x2x2 : tensor<1x5x2x2xf32>) -> tensor<1x5x2x2xf32>
  %16 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x1x2x5x6, %W2x2x2 : tensor<1x2x5x6xf32>, tensor<2x2x2xf32>) outs(%z1x2x4x5 : tensor<1x2x4x5xf32>) -> tensor<1x2x4x5xf32>
  %17 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x1x5x6x2, %W2x2x2 : tensor<1x5x6x2xf32>, tensor<2x2x2xf32>) outs(%z1x4x5x2 : tensor<1x4x5x2xf32>) -> tensor<1x4x5x2xf32>
  %18 = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x1x5x6x2, %W2x2x2x2 : tensor<1x5x6x2xf32>, tensor<2x2x2x2xf32>) outs(%z1x4x5x2x2 : tensor<1x4x5x2x2xf32>) -> tensor<1x4x5x2x2xf32>
  %19 = linalg.depthwise_conv_3d_ncdhw_cdhw {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%x1x2x4x5x6, %W2x2x2x2 : tensor<1x2x4x5x6xf32>, tensor<2x2x2x2xf32>) outs(%z1x2x3x4x5 : tensor<1x2x3x4x5xf32>) -> tensor<1x2x3x4x5xf32>
  %20 = linalg.depthwise_conv_3d_ndhwc_dhwc {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%x1x4x5x6x2, %W2x2x2x2 : tensor<1x4x5x6x2xf32>, tensor<2x2x2x2xf32>) outs(%z1x3x4x5x2 : tensor<1x3x4x5x2xf32>) -> tensor<1x3x4x5x2xf32>
  %21 = linalg.depthwise_conv_3d_ndhwc_dhwcm {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%x1x4x5x6x2, %W2x2x2x2x2 : tensor<1x4x5x6x2xf32>, tensor<2x2x2x2x2xf32>) outs(%z1x3x4x5x2x2 : tensor<1x3x4x5x2x2xf32>) -> tensor<1x3x4x5x2x2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21 : tensor<5xf32>, tensor<4x5xf32>, tensor<3x4x5xf32>, tensor<1x3x5xf32>, tensor<1x5x3xf32>, tensor<1x3x4x5xf32>, tensor<1x2x3x4x5xf32>, tensor<1x2x3x4x5xf32>, tensor<1x4x5x3xf32>, tensor<1x4x5x3xf32>, tensor<1x4x5x2x3xf32>, tensor<1x3x3x4x5xf32>, tensor<1x3x4x5x3xf32>, tensor<1x2x5xf32>, tensor<1x5x2xf32>, tensor<1x5x2x2xf32>, tensor<1x2x4x5xf32>, tensor<1x4x5x2xf32>, tensor<1x4x5x2x2xf32>, tensor<1x2x3x4x5xf32>, tensor<1x3x4x5x2xf32>, tensor<1x3x4x5x2x2xf32>
}

// Ops: linalg.conv_2d_nchw_fchw_q linalg.conv_2d_ngchw_gfchw_q linalg.conv_2d_nhwc_fhwc_q
//   linalg.conv_2d_nhwc_hwcf_q linalg.conv_2d_nhwgc_gfhwc_q linalg.conv_3d_ndhwc_dhwcf_q
//   linalg.depthwise_conv_2d_nhwc_hwc_q linalg.depthwise_conv_2d_nhwc_hwcm_q
// How: one more parallel loop
func.func private @quantized_convolutions(%b1x2x5x6: tensor<1x2x5x6xi8>, %B3x2x2x2: tensor<3x2x2x2xi8>, %b1x2x2x5x6: tensor<1x2x2x5x6xi8>, %B2x3x2x2x2: tensor<2x3x2x2x2xi8>, %b1x5x6x2: tensor<1x5x6x2xi8>, %B2x2x2x3: tensor<2x2x2x3xi8>, %b1x5x6x2x2: tensor<1x5x6x2x2xi8>, %b1x4x5x6x2: tensor<1x4x5x6x2xi8>, %B2x2x2x2x3: tensor<2x2x2x2x3xi8>, %B2x2x2: tensor<2x2x2xi8>, %B2x2x2x2: tensor<2x2x2x2xi8>, %h: i32, %k: i32)
    -> (tensor<1x3x4x5xi32>, tensor<1x2x3x4x5xi32>, tensor<1x4x5x3xi32>, tensor<1x4x5x3xi32>, tensor<1x4x5x2x3xi32>, tensor<1x3x4x5x3xi32>, tensor<1x4x5x2xi32>, tensor<1x4x5x2x2xi32>) {
  %z1x3x4x5 = arith.constant dense<0> : tensor<1x3x4x5xi32>
  %z1x2x3x4x5 = arith.constant dense<0> : tensor<1x2x3x4x5xi32>
  %z1x4x5x3 = arith.constant dense<0> : tensor<1x4x5x3xi32>
  %z1x4x5x2x3 = arith.constant dense<0> : tensor<1x4x5x2x3xi32>
  %z1x3x4x5x3 = arith.constant dense<0> : tensor<1x3x4x5x3xi32>
  %z1x4x5x2 = arith.constant dense<0> : tensor<1x4x5x2xi32>
  %z1x4x5x2x2 = arith.constant dense<0> : tensor<1x4x5x2x2xi32>
  %0 = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%b1x2x5x6, %B3x2x2x2, %h, %k : tensor<1x2x5x6xi8>, tensor<3x2x2x2xi8>, i32, i32) outs(%z1x3x4x5 : tensor<1x3x4x5xi32>) -> tensor<1x3x4x5xi32>
  %1 = linalg.conv_2d_ngchw_gfchw_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%b1x2x2x5x6, %B2x3x2x2x2, %h, %k : tensor<1x2x2x5x6xi8>, tensor<2x3x2x2x2xi8>, i32, i32) outs(%z1x2x3x4x5 : tensor<1x2x3x4x5xi32>) -> tensor<1x2x3x4x5xi32>
  %2 = linalg.conv_2d_nhwc_fhwc_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%b1x5x6x2, %B3x2x2x2, %h, %k : tensor<1x5x6x2xi8>, tensor<3x2x2x2xi8>, i32, i32) outs(%z1x4x5x3 : tensor<1x4x5x3xi32>) -> tensor<1x4x5x3xi32>
  %3 = linalg.conv_2d_nhwc_hwcf_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%b1x5x6x2, %B2x2x2x3, %h, %k : tensor<1x5x6x2xi8>, tensor<2x2x2x3xi8>, i32, i32) outs(%z1x4x5x3 : tensor<1x4x5x3xi32>) -> tensor<1x4x5x3xi32>
  %4 = linalg.conv_2d_nhwgc_gfhwc_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%b1x5x6x2x2, %B2x3x2x2x2, %h, %k : tensor<1x5x6x2x2xi8>, tensor<2x3x2x2x2xi8>, i32, i32) outs(%z1x4x5x2x3 : tensor<1x4x5x2x3xi32>) -> tensor<1x4x5x2x3xi32>
  %5 = linalg.conv_3d_ndhwc_dhwcf_q {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%b1x4x5x6x2, %B2x2x2x2x3, %h, %k : tensor<1x4x5x6x2xi8>, tensor<2x2x2x2x3xi8>, i32, i32) outs(%z1x3x4x5x3 : tensor<1x3x4x5x3xi32>) -> tensor<1x3x4x5x3xi32>
  %6 = linalg.depthwise_conv_2d_nhwc_hwc_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%b1x5x6x2, %B2x2x2, %h, %k : tensor<1x5x6x2xi8>, tensor<2x2x2xi8>, i32, i32) outs(%z1x4x5x2 : tensor<1x4x5x2xi32>) -> tensor<1x4x5x2xi32>
  %7 = linalg.depthwise_conv_2d_nhwc_hwcm_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%b1x5x6x2, %B2x2x2x2, %h, %k : tensor<1x5x6x2xi8>, tensor<2x2x2x2xi8>, i32, i32) outs(%z1x4x5x2x2 : tensor<1x4x5x2x2xi32>) -> tensor<1x4x5x2x2xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<1x3x4x5xi32>, tensor<1x2x3x4x5xi32>, tensor<1x4x5x3xi32>, tensor<1x4x5x3xi32>, tensor<1x4x5x2x3xi32>, tensor<1x3x4x5x3xi32>, tensor<1x4x5x2xi32>, tensor<1x4x5x2x2xi32>
}

// Ops: linalg.pooling_nchw_max linalg.pooling_nchw_sum linalg.pooling_ncw_max
//   linalg.pooling_ncw_sum linalg.pooling_ndhwc_max linalg.pooling_ndhwc_min
//   linalg.pooling_ndhwc_sum linalg.pooling_nhwc_max linalg.pooling_nhwc_min
//   linalg.pooling_nhwc_sum linalg.pooling_nwc_max linalg.pooling_nwc_min linalg.pooling_nwc_sum
//   linalg.pooling_nhwc_max_unsigned linalg.pooling_nhwc_min_unsigned
//   linalg.pooling_nwc_max_unsigned linalg.pooling_nwc_min_unsigned
// How: one more parallel loop
func.func private @poolings(%x1x2x5x6: tensor<1x2x5x6xf32>, %x1x2x6: tensor<1x2x6xf32>, %x1x4x5x6x2: tensor<1x4x5x6x2xf32>, %x1x5x6x2: tensor<1x5x6x2xf32>, %x1x6x2: tensor<1x6x2xf32>, %n1x5x6x2: tensor<1x5x6x2xi32>, %n1x6x2: tensor<1x6x2xi32>)
    -> (tensor<1x2x4x5xf32>, tensor<1x2x4x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x3x4x5x2xf32>, tensor<1x3x4x5x2xf32>, tensor<1x3x4x5x2xf32>, tensor<1x4x5x2xf32>, tensor<1x4x5x2xf32>, tensor<1x4x5x2xf32>, tensor<1x5x2xf32>, tensor<1x5x2xf32>, tensor<1x5x2xf32>, tensor<1x4x5x2xi32>, tensor<1x4x5x2xi32>, tensor<1x5x2xi32>, tensor<1x5x2xi32>) {
  %zmax1x2x4x5 = arith.constant dense<0xFF800000> : tensor<1x2x4x5xf32>
  %wf2 = tensor.empty() : tensor<2x2xf32>
  %zsum1x2x4x5 = arith.constant dense<0.0> : tensor<1x2x4x5xf32>
  %zmax1x2x5 = arith.constant dense<0xFF800000> : tensor<1x2x5xf32>
  %wf1 = tensor.empty() : tensor<2xf32>
  %zsum1x2x5 = arith.constant dense<0.0> : tensor<1x2x5xf32>
  %zmax1x3x4x5x2 = arith.constant dense<0xFF800000> : tensor<1x3x4x5x2xf32>
  %wf3 = tensor.empty() : tensor<2x2x2xf32>
  %zmin1x3x4x5x2 = arith.constant dense<0x7F800000> : tensor<1x3x4x5x2xf32>
  %zsum1x3x4x5x2 = arith.constant dense<0.0> : tensor<1x3x4x5x2xf32>
  %zmax1x4x5x2 = arith.constant dense<0xFF800000> : tensor<1x4x5x2xf32>
  %zmin1x4x5x2 = arith.constant dense<0x7F800000> : tensor<1x4x5x2xf32>
  %zsum1x4x5x2 = arith.constant dense<0.0> : tensor<1x4x5x2xf32>
  %zmax1x5x2 = arith.constant dense<0xFF800000> : tensor<1x5x2xf32>
  %zmin1x5x2 = arith.constant dense<0x7F800000> : tensor<1x5x2xf32>
  %zsum1x5x2 = arith.constant dense<0.0> : tensor<1x5x2xf32>
  %zmaxu1x4x5x2 = arith.constant dense<0> : tensor<1x4x5x2xi32>
  %wi2 = tensor.empty() : tensor<2x2xi32>
  %zminu1x4x5x2 = arith.constant dense<100> : tensor<1x4x5x2xi32>
  %zmaxu1x5x2 = arith.constant dense<0> : tensor<1x5x2xi32>
  %wi1 = tensor.empty() : tensor<2xi32>
  %zminu1x5x2 = arith.constant dense<100> : tensor<1x5x2xi32>
  %0 = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x1x2x5x6, %wf2 : tensor<1x2x5x6xf32>, tensor<2x2xf32>) outs(%zmax1x2x4x5 : tensor<1x2x4x5xf32>) -> tensor<1x2x4x5xf32>
  %1 = linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x1x2x5x6, %wf2 : tensor<1x2x5x6xf32>, tensor<2x2xf32>) outs(%zsum1x2x4x5 : tensor<1x2x4x5xf32>) -> tensor<1x2x4x5xf32>
  %2 = linalg.pooling_ncw_max {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%x1x2x6, %wf1 : tensor<1x2x6xf32>, tensor<2xf32>) outs(%zmax1x2x5 : tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
  %3 = linalg.pooling_ncw_sum {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%x1x2x6, %wf1 : tensor<1x2x6xf32>, tensor<2xf32>) outs(%zsum1x2x5 : tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
  %4 = linalg.pooling_ndhwc_max {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%x1x4x5x6x2, %wf3 : tensor<1x4x5x6x2xf32>, tensor<2x2x2xf32>) outs(%zmax1x3x4x5x2 : tensor<1x3x4x5x2xf32>) -> tensor<1x3x4x5x2xf32>
  %5 = linalg.pooling_ndhwc_min {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%x1x4x5x6x2, %wf3 : tensor<1x4x5x6x2xf32>, tensor<2x2x2xf32>) outs(%zmin1x3x4x5x2 : tensor<1x3x4x5x2xf32>) -> tensor<1x3x4x5x2xf32>
  %6 = linalg.pooling_ndhwc_sum {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%x1x4x5x6x2, %wf3 : tensor<1x4x5x6x2xf32>, tensor<2x2x2xf32>) outs(%zsum1x3x4x5x2 : tensor<1x3x4x5x2xf32>) -> tensor<1x3x4x5x2xf32>
  %7 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x1x5x6x2, %wf2 : tensor<1x5x6x2xf32>, tensor<2x2xf32>) outs(%zmax1x4x5x2 : tensor<1x4x5x2xf32>) -> tensor<1x4x5x2xf32>
  %8 = linalg.pooling_nhwc_min {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x1x5x6x2, %wf2 : tensor<1x5x6x2xf32>, tensor<2x2xf32>) outs(%zmin1x4x5x2 : tensor<1x4x5x2xf32>) -> tensor<1x4x5x2xf32>
  %9 = linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x1x5x6x2, %wf2 : tensor<1x5x6x2xf32>, tensor<2x2xf32>) outs(%zsum1x4x5x2 : tensor<1x4x5x2xf32>) -> tensor<1x4x5x2xf32>
  %10 = linalg.pooling_nwc_max {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%x1x6x2, %wf1 : tensor<1x6x2xf32>, tensor<2xf32>) outs(%zmax1x5x2 : tensor<1x5x2xf32>) -> tensor<1x5x2xf32>
  %11 = linalg.pooling_nwc_min {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%x1x6x2, %wf1 : tensor<1x6x2xf32>, tensor<2xf32>) outs(%zmin1x5x2 : tensor<1x5x2xf32>) -> tensor<1x5x2xf32>
  %12 = linalg.pooling_nwc_sum {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%x1x6x2, %wf1 : tensor<1x6x2xf32>, tensor<2xf32>) outs(%zsum1x5x2 : tensor<1x5x2xf32>) -> tensor<1x5x2xf32>
  %13 = linalg.pooling_nhwc_max_unsigned {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%n1x5x6x2, %wi2 : tensor<1x5x6x2xi32>, tensor<2x2xi32>) outs(%zmaxu1x4x5x2 : tensor<1x4x5x2xi32>) -> tensor<1x4x5x2xi32>
  %14 = linalg.pooling_nhwc_min_unsigned {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%n1x5x6x2, %wi2 : tensor<1x5x6x2xi32>, tensor<2x2xi32>) outs(%zminu1x4x5x2 : tensor<1x4x5x2xi32>) -> tensor<1x4x5x2xi32>
  %15 = linalg.pooling_nwc_max_unsigned {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%n1x6x2, %wi1 : tensor<1x6x2xi32>, tensor<2xi32>) outs(%zmaxu1x5x2 : tensor<1x5x2xi32>) -> tensor<1x5x2xi32>
  %16 = linalg.pooling_nwc_min_unsigned {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%n1x6x2, %wi1 : tensor<1x6x2xi32>, tensor<2xi32>) outs(%zminu1x5x2 : tensor<1x5x2xi32>) -> tensor<1x5x2xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : tensor<1x2x4x5xf32>, tensor<1x2x4x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x3x4x5x2xf32>, tensor<1x3x4x5x2xf32>, tensor<1x3x4x5x2xf32>, tensor<1x4x5x2xf32>, tensor<1x4x5x2xf32>, tensor<1x4x5x2xf32>, tensor<1x5x2xf32>, tensor<1x5x2xf32>, tensor<1x5x2xf32>, tensor<1x4x5x2xi32>, tensor<1x4x5x2xi32>, tensor<1x5x2xi32>, tensor<1x5x2xi32>
}
