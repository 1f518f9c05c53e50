;; The WebAssembly of scan-memory.ts. `node tools/wat.mjs` generates scan-code.ts from this file. The text
;; from `;; for {n} in …` to `;; end` is written once for each of the values.
;;
;; The memory has two regions of 64 KiB, into which scan-memory.ts puts bytes, and a page after them for
;; sixteen characters: a round of numbers may read up to 63 bytes beyond the end that it is given.
(module
  (memory (export "memory") 3 3)

  ;; Constants of a round. The compiler keeps what a global held before the loop in a register; a constant
  ;; within the loop is built again for each use, by five instructions.
  (global $spaces (mut v128) (v128.const i32x4 0x20202020 0x20202020 0x20202020 0x20202020))
  (global $breaks (mut v128) (v128.const i32x4 0x0a0a0a0a 0x0a0a0a0a 0x0a0a0a0a 0x0a0a0a0a))
  (global $commas (mut v128) (v128.const i32x4 0x2c2c2c2c 0x2c2c2c2c 0x2c2c2c2c 0x2c2c2c2c))
  (global $kinds (mut v128) (v128.const i8x16 2 1 8 0 7 7 7 7 7 7 7 7 7 7 0 0))
  (global $follows (mut v128)
    (v128.const i8x16
      0xd1 0xd4 0x74 0 0x7a 0x7a 0x7a 0x7a 0x7a 0x7a 0x7a 0x7a 0x7a 0x7a 0 0))

  ;; Numbers in the form of embeddings: a minus or none, one digit, a point, more digits, a comma, and spaces
  ;; or line breaks after it. A byte is right or wrong by itself and the two bytes before it. The four reasons
  ;; for which a byte may stand where it stands are bits:
  ;;
  ;;     1  it begins a number, or is white space: a minus, a digit, white space
  ;;     2  it follows a digit after the point: a digit, a comma
  ;;     4  it follows a minus or a point: a digit
  ;;     8  it follows the first digit of a number: a point
  ;;
  ;; A byte minus 0x2c is its index in two tables; an index above 15 gives 0, for which no reason holds:
  ;;
  ;;     index             0    1    2    3    4 to 13  14  15
  ;;     byte              ,    -    .         0 to 9
  ;;     $kinds            2    1    8    0    7        0   0    the reasons that hold for the byte
  ;;     $follows, low     1    4    4    0    2 + 8    0   0    those that it leaves to the next byte
  ;;     $follows, high    13   13   7    0    7        0   0    those that it leaves to the one after that
  ;;
  ;; Of the last row, the digit after a point or a digit is no first one (7), that after a comma or a minus
  ;; is one (13). White space leaves what a comma leaves, and has its index: 0. Only its reason differs, by 1.
  ;;
  ;; @param at   where a number begins, or white space before it
  ;; @param end  the place after the last byte
  ;; @returns    the first byte that is wrong, or the end
  (func (export "numbers") (param $at i32) (param $end i32) (result i32)
    (local $spaces v128)
    (local $breaks v128)
    (local $commas v128)
    (local $kinds v128)
    (local $follows v128)
    (local $bytes v128)
    (local $white v128)
    (local $last v128)
    (local $next v128)
    (local $right0 v128)
    (local $right16 v128)
    (local $right32 v128)
    (local $right48 v128)
    (local $wrong i64)
    (local.set $spaces (global.get $spaces))
    (local.set $breaks (global.get $breaks))
    (local.set $commas (global.get $commas))
    (local.set $kinds (global.get $kinds))
    (local.set $follows (global.get $follows))
    ;; The first byte counts as if a comma stood before it.
    (local.set $last (i8x16.splat (i32.const 0xd1)))
    (block $through
      (loop $round
        (br_if $through (i32.ge_u (local.get $at) (local.get $end)))

        ;; for {n} in 0 16 32 48
        (local.set $white
          (v128.or
            (i8x16.eq
              (local.tee $bytes (v128.load offset={n} align=1 (local.get $at)))
              (local.get $spaces))
            (i8x16.eq (local.get $bytes) (local.get $breaks))))
        ;; $bytes: the indexes. 255 is taken from that of white space, which leaves 0.
        (local.set $bytes
          (i8x16.sub_sat_u (i8x16.sub (local.get $bytes) (local.get $commas)) (local.get $white)))
        (local.set $next (i8x16.swizzle (local.get $follows) (local.get $bytes)))
        ;; Above 0 where a reason of the byte is left by both bytes before it. The shift moves bits of other
        ;; bytes into the high half, which the reasons of the byte do not have.
        (local.set $right{n}
          (v128.and
            (v128.and
              ;; White space is -1 here.
              (i8x16.add (i8x16.swizzle (local.get $kinds) (local.get $bytes)) (local.get $white))
              (i8x16.shuffle 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30
                (local.get $last)
                (local.get $next)))
            (i16x8.shr_u
              (i8x16.shuffle 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29
                (local.get $last)
                (local.get $next))
              (i32.const 4))))
        (local.set $last (local.get $next))
        ;; end

        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br_if $round
          (i8x16.all_true
            (i8x16.min_u
              (i8x16.min_u (local.get $right0) (local.get $right16))
              (i8x16.min_u (local.get $right32) (local.get $right48)))))

        ;; for {n} in 0 16 32 48
        (local.set $wrong
          (i64.or
            (local.get $wrong)
            (i64.shl
              (i64.extend_i32_u
                (i8x16.bitmask (i8x16.eq (local.get $right{n}) (v128.const i32x4 0 0 0 0))))
              (i64.const {n}))))
        ;; end
        (local.set $at
          (i32.add
            (i32.sub (local.get $at) (i32.const 64))
            (i32.wrap_i64 (i64.ctz (local.get $wrong)))))))
    (select
      (local.get $at)
      (local.get $end)
      (i32.lt_u (local.get $at) (local.get $end))))

  ;; Constants of base64.
  (global $halves (mut v128) (v128.const i32x4 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f))
  (global $slashes (mut v128) (v128.const i32x4 0x2f2f2f2f 0x2f2f2f2f 0x2f2f2f2f 0x2f2f2f2f))
  (global $lows (mut v128) (v128.const i8x16 10 14 14 14 14 14 14 14 14 14 12 5 4 4 4 5))
  (global $highs (mut v128) (v128.const i8x16 0 0 1 2 4 8 4 8 0 0 0 0 0 0 0 0))
  (global $steps (mut v128) (v128.const i8x16 0 16 19 4 -65 -65 -71 -71 0 0 0 0 0 0 0 0))
  (global $exponents (mut v128)
    (v128.const i8x16 0 0 0x02 0 0x1f 0x30 0 0 0x20 0x07 0x3c 0 0 0x08 0x01 0x3f))

  ;; Base64 of finite float32 numbers, little-endian. Sixteen characters are three numbers.
  ;;
  ;; A character belongs to the alphabet when the entries of its two halves have a bit in common:
  ;;
  ;;     bit         1          2       4             8
  ;;     characters  + /        0 to 9  A to O, a to o  P to Z, p to z
  ;;     high half   2          3       4, 6          5, 7
  ;;     low half    0xb, 0xf   0 to 9  1 to 0xf      0 to 0xa
  ;;
  ;; Its value is the character plus the entry of its high half in $steps; that of the slash has the index 1.
  ;; A number is not finite when the eight bits of its exponent are ones. They lie in three characters of the
  ;; sixteen: 2, 4, 5 of the first number; 8, 9, 10 of the second; 13, 14, 15 of the third. $exponents has
  ;; the bits.
  ;;
  ;; @param at   where sixteen characters begin
  ;; @param end  the place after the last byte
  ;; @returns    the first sixteen characters of which this cannot be said, or of which the end cuts some
  (func (export "base64") (param $at i32) (param $end i32) (result i32)
    (local $halves v128)
    (local $slashes v128)
    (local $lows v128)
    (local $highs v128)
    (local $steps v128)
    (local $exponents v128)
    (local $bytes v128)
    (local $high v128)
    (local $ones i32)
    (local.set $halves (global.get $halves))
    (local.set $slashes (global.get $slashes))
    (local.set $lows (global.get $lows))
    (local.set $highs (global.get $highs))
    (local.set $steps (global.get $steps))
    (local.set $exponents (global.get $exponents))
    (loop $round
      (if (i32.gt_u (i32.add (local.get $at) (i32.const 16)) (local.get $end))
        (then (return (local.get $at))))
      (local.set $high
        (v128.and
          (i16x8.shr_u
            (local.tee $bytes (v128.load align=1 (local.get $at)))
            (i32.const 4))
          (local.get $halves)))
      ;; A bit for each character whose bits of an exponent are ones, or that has none.
      (local.set $ones
        (i8x16.bitmask
          (i8x16.eq
            (v128.and
              (i8x16.add
                (local.get $bytes)
                (i8x16.swizzle
                  (local.get $steps)
                  (i8x16.add
                    (local.get $high)
                    (i8x16.eq (local.get $bytes) (local.get $slashes)))))
              (local.get $exponents))
            (local.get $exponents))))
      (if
        (i32.eqz
          (i32.and
            (i8x16.all_true
              (v128.and
                (i8x16.swizzle
                  (local.get $lows)
                  (v128.and (local.get $bytes) (local.get $halves)))
                (i8x16.swizzle (local.get $highs) (local.get $high))))
            ;; 0xe734 has the bits of the three numbers, and 8 fills the gap of the first. Ones alone carry
            ;; into the bit after them.
            (i32.eqz
              (i32.and
                (i32.add
                  (i32.or
                    (i32.and (local.get $ones) (i32.const 0xe734))
                    (i32.const 8))
                  (i32.const 0x2104))
                (i32.const 0x10840)))))
        (then (return (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br $round))
    unreachable))
