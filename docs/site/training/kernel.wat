;; The linear layers of the article's networks: both functions compute 32 samples at once, in four bytes each.
;;
;; A unit is the 32 values of one pixel or neuron, 128 bytes in a row, so a register takes four samples.
;; A table lists connections in groups. A group is the address of its end, and then two addresses for each
;; connection; no group is empty. Tables hold all addresses, so a dense layer and a convolution are the same here.

(module
  (memory (export "memory") 64)

  ;; The values of units, one for each group: the sum over its connections [unit, weight] of weight · unit.
  ;; Forward, a group has the inputs of an output. Backward, it has the outputs of an input, as gradients.
  (func (export "combine") (param $table i32) (param $end i32) (param $result i32)
    (local $group_end i32) (local $unit i32) (local $weight v128)
    (local $sum0 v128) (local $sum1 v128) (local $sum2 v128) (local $sum3 v128)
    (local $sum4 v128) (local $sum5 v128) (local $sum6 v128) (local $sum7 v128)
    (loop $groups
      (local.set $group_end (i32.load (local.get $table)))
      (local.set $table (i32.add (local.get $table) (i32.const 4)))
      (local.set $sum0 (f32x4.splat (f32.const 0)))
      (local.set $sum1 (local.get $sum0))
      (local.set $sum2 (local.get $sum0))
      (local.set $sum3 (local.get $sum0))
      (local.set $sum4 (local.get $sum0))
      (local.set $sum5 (local.get $sum0))
      (local.set $sum6 (local.get $sum0))
      (local.set $sum7 (local.get $sum0))
      (loop $connections
        (local.set $unit (i32.load (local.get $table)))
        (local.set $weight (v128.load32_splat (i32.load offset=4 (local.get $table))))
        (local.set $sum0 (f32x4.add (local.get $sum0) (f32x4.mul (local.get $weight) (v128.load (local.get $unit)))))
        (local.set $sum1 (f32x4.add (local.get $sum1) (f32x4.mul (local.get $weight) (v128.load offset=16 (local.get $unit)))))
        (local.set $sum2 (f32x4.add (local.get $sum2) (f32x4.mul (local.get $weight) (v128.load offset=32 (local.get $unit)))))
        (local.set $sum3 (f32x4.add (local.get $sum3) (f32x4.mul (local.get $weight) (v128.load offset=48 (local.get $unit)))))
        (local.set $sum4 (f32x4.add (local.get $sum4) (f32x4.mul (local.get $weight) (v128.load offset=64 (local.get $unit)))))
        (local.set $sum5 (f32x4.add (local.get $sum5) (f32x4.mul (local.get $weight) (v128.load offset=80 (local.get $unit)))))
        (local.set $sum6 (f32x4.add (local.get $sum6) (f32x4.mul (local.get $weight) (v128.load offset=96 (local.get $unit)))))
        (local.set $sum7 (f32x4.add (local.get $sum7) (f32x4.mul (local.get $weight) (v128.load offset=112 (local.get $unit)))))
        (local.set $table (i32.add (local.get $table) (i32.const 8)))
        (br_if $connections (i32.lt_u (local.get $table) (local.get $group_end))))
      (v128.store (local.get $result) (local.get $sum0))
      (v128.store offset=16 (local.get $result) (local.get $sum1))
      (v128.store offset=32 (local.get $result) (local.get $sum2))
      (v128.store offset=48 (local.get $result) (local.get $sum3))
      (v128.store offset=64 (local.get $result) (local.get $sum4))
      (v128.store offset=80 (local.get $result) (local.get $sum5))
      (v128.store offset=96 (local.get $result) (local.get $sum6))
      (v128.store offset=112 (local.get $result) (local.get $sum7))
      (local.set $result (i32.add (local.get $result) (i32.const 128)))
      (br_if $groups (i32.lt_u (local.get $table) (local.get $end)))))

  ;; One number for each group: the sum over its connections [unit, unit] and over samples of the product.
  ;; A group has the places where a weight is used, so this is the gradient of the weight.
  (func (export "correlate") (param $table i32) (param $end i32) (param $result i32)
    (local $group_end i32) (local $one i32) (local $two i32)
    (local $sum0 v128) (local $sum1 v128) (local $sum2 v128) (local $sum3 v128)
    (loop $groups
      (local.set $group_end (i32.load (local.get $table)))
      (local.set $table (i32.add (local.get $table) (i32.const 4)))
      (local.set $sum0 (f32x4.splat (f32.const 0)))
      (local.set $sum1 (local.get $sum0))
      (local.set $sum2 (local.get $sum0))
      (local.set $sum3 (local.get $sum0))
      (loop $connections
        (local.set $one (i32.load (local.get $table)))
        (local.set $two (i32.load offset=4 (local.get $table)))
        (local.set $sum0 (f32x4.add (local.get $sum0) (f32x4.mul (v128.load (local.get $one)) (v128.load (local.get $two)))))
        (local.set $sum1 (f32x4.add (local.get $sum1) (f32x4.mul (v128.load offset=16 (local.get $one)) (v128.load offset=16 (local.get $two)))))
        (local.set $sum2 (f32x4.add (local.get $sum2) (f32x4.mul (v128.load offset=32 (local.get $one)) (v128.load offset=32 (local.get $two)))))
        (local.set $sum3 (f32x4.add (local.get $sum3) (f32x4.mul (v128.load offset=48 (local.get $one)) (v128.load offset=48 (local.get $two)))))
        (local.set $sum0 (f32x4.add (local.get $sum0) (f32x4.mul (v128.load offset=64 (local.get $one)) (v128.load offset=64 (local.get $two)))))
        (local.set $sum1 (f32x4.add (local.get $sum1) (f32x4.mul (v128.load offset=80 (local.get $one)) (v128.load offset=80 (local.get $two)))))
        (local.set $sum2 (f32x4.add (local.get $sum2) (f32x4.mul (v128.load offset=96 (local.get $one)) (v128.load offset=96 (local.get $two)))))
        (local.set $sum3 (f32x4.add (local.get $sum3) (f32x4.mul (v128.load offset=112 (local.get $one)) (v128.load offset=112 (local.get $two)))))
        (local.set $table (i32.add (local.get $table) (i32.const 8)))
        (br_if $connections (i32.lt_u (local.get $table) (local.get $group_end))))
      (local.set $sum0 (f32x4.add (f32x4.add (local.get $sum0) (local.get $sum1)) (f32x4.add (local.get $sum2) (local.get $sum3))))
      (f32.store (local.get $result)
        (f32.add
          (f32.add (f32x4.extract_lane 0 (local.get $sum0)) (f32x4.extract_lane 1 (local.get $sum0)))
          (f32.add (f32x4.extract_lane 2 (local.get $sum0)) (f32x4.extract_lane 3 (local.get $sum0)))))
      (local.set $result (i32.add (local.get $result) (i32.const 4)))
      (br_if $groups (i32.lt_u (local.get $table) (local.get $end)))))

  ;; The larger value of two units, for each sample. The result may be one of them.
  (func (export "larger") (param $one i32) (param $two i32) (param $result i32)
    (v128.store (local.get $result) (f32x4.max (v128.load (local.get $one)) (v128.load (local.get $two))))
    (v128.store offset=16 (local.get $result) (f32x4.max (v128.load offset=16 (local.get $one)) (v128.load offset=16 (local.get $two))))
    (v128.store offset=32 (local.get $result) (f32x4.max (v128.load offset=32 (local.get $one)) (v128.load offset=32 (local.get $two))))
    (v128.store offset=48 (local.get $result) (f32x4.max (v128.load offset=48 (local.get $one)) (v128.load offset=48 (local.get $two))))
    (v128.store offset=64 (local.get $result) (f32x4.max (v128.load offset=64 (local.get $one)) (v128.load offset=64 (local.get $two))))
    (v128.store offset=80 (local.get $result) (f32x4.max (v128.load offset=80 (local.get $one)) (v128.load offset=80 (local.get $two))))
    (v128.store offset=96 (local.get $result) (f32x4.max (v128.load offset=96 (local.get $one)) (v128.load offset=96 (local.get $two))))
    (v128.store offset=112 (local.get $result) (f32x4.max (v128.load offset=112 (local.get $one)) (v128.load offset=112 (local.get $two)))))

  ;; A unit where two others are equal, and zero elsewhere.
  (func (export "whereEqual") (param $one i32) (param $two i32) (param $unit i32) (param $result i32)
    (v128.store (local.get $result)
      (v128.and (v128.load (local.get $unit)) (f32x4.eq (v128.load (local.get $one)) (v128.load (local.get $two)))))
    (v128.store offset=16 (local.get $result)
      (v128.and (v128.load offset=16 (local.get $unit)) (f32x4.eq (v128.load offset=16 (local.get $one)) (v128.load offset=16 (local.get $two)))))
    (v128.store offset=32 (local.get $result)
      (v128.and (v128.load offset=32 (local.get $unit)) (f32x4.eq (v128.load offset=32 (local.get $one)) (v128.load offset=32 (local.get $two)))))
    (v128.store offset=48 (local.get $result)
      (v128.and (v128.load offset=48 (local.get $unit)) (f32x4.eq (v128.load offset=48 (local.get $one)) (v128.load offset=48 (local.get $two)))))
    (v128.store offset=64 (local.get $result)
      (v128.and (v128.load offset=64 (local.get $unit)) (f32x4.eq (v128.load offset=64 (local.get $one)) (v128.load offset=64 (local.get $two)))))
    (v128.store offset=80 (local.get $result)
      (v128.and (v128.load offset=80 (local.get $unit)) (f32x4.eq (v128.load offset=80 (local.get $one)) (v128.load offset=80 (local.get $two)))))
    (v128.store offset=96 (local.get $result)
      (v128.and (v128.load offset=96 (local.get $unit)) (f32x4.eq (v128.load offset=96 (local.get $one)) (v128.load offset=96 (local.get $two)))))
    (v128.store offset=112 (local.get $result)
      (v128.and (v128.load offset=112 (local.get $unit)) (f32x4.eq (v128.load offset=112 (local.get $one)) (v128.load offset=112 (local.get $two)))))))
