#!/bin/bash
# Experiments behind the advice of docs/truth.md: VOXHERD=program OUT=folder bash bench/truth_experiments.sh phantomas/examples
# Scores go to $OUT/*.json, the log to $OUT/log.txt; about 300 runs of 1 s on a GPU. $LIMIT: seconds after which no run starts.
# `python3 bench/truth.py collect $OUT docs/papers` makes the tables.
geometry=$1
backend=${BACKEND:-cuda}; LIMIT=${LIMIT:-1000000}; W=${WORK:-$(mktemp -d)}; mkdir -p "$OUT"; cd "$W"
exec > "$OUT/log.txt" 2>&1
isbi=$geometry/isbi_challenge_2013.txt
declare -A protocol=( [dti]="--bvalues 1200 --directions 32 --b0 2" [hardi]="--bvalues 3000 --directions 64 --b0 4"
                      [ms]="--bvalues 1000,2000,3000 --directions 30 --b0 6" [hcp]="--bvalues 1000,2000,3000 --directions 90 --b0 18" )
late() { [ $SECONDS -gt $LIMIT ] && echo "left out: too late"; }
make() { # NAME PROTOCOL SNR OPTIONS...
  local n=$1 p=$2 s=$3; shift 3; late || "$VOXHERD" phantom dwi --out $n ${protocol[$p]} --snr $s --overwrite "$@"; }
fit() { # DATA NAME MASK OPTIONS... -> $OUT/DATA.NAME.json
  local d=$1 n=$2 m=$3; shift 3
  late && { echo "left out: $d $n"; return; }
  "$VOXHERD" ballstick --dwi $d/data.nii --bvals $d/bvals --bvecs $d/bvecs --mask $d/$m --out $d.$n.h5 --overwrite \
    --backend $backend --quiet "$@" && "$VOXHERD" phantom score $d.$n.h5 --truth $d --json "$OUT/$d.$n.json" --overwrite > /dev/null
  echo "$d $n: $SECONDS s"; }
scored() { local d=$1 n=$2; shift 2; fit $d $n truth/scored.nii.gz "$@"; }

for p in hardi ms dti; do for s in 30 20 10; do make $p$s $p $s --geometry $isbi; done; done
# 2. Ratios other than 0.13, sticks, grey matter of a brain (section 2.2)
for r in 0.00005 0.0004 0.0006; do make msr$r ms 20 --geometry $isbi --radial-d $r --grey-d 0.0008
  for m in 2 3; do scored msr$r m$m --model $m; done; done
make msrestricted ms 20 --geometry $isbi --tissue restricted; make hrestricted hardi 30 --geometry $isbi --tissue restricted
for m in 1 2 3; do scored msrestricted m$m --model $m; scored hrestricted m$m --model $m; done
make msr.wide ms 20 --geometry $isbi --radial-d 0.0006 --grey-d 0.0008; scored msr.wide m3wide --model 3 --ratio-mean 0.2 --ratio-std 0.1
scored ms20 m3wide --model 3 --ratio-mean 0.2 --ratio-std 0.1; scored msrestricted m3wide --model 3 --ratio-mean 0.2 --ratio-std 0.1
# 3. SNR 10 and 32 directions: the relevance prior
for w in 0.5 0.6 0.7 0.8 0.85 0.9 0.95 1.2; do scored hardi10 w$w --ard-weight $w; scored hardi10 rice.w$w --noise rician --ard-weight $w; scored hardi10 m3.w$w --model 3 --ard-weight $w; done
for d in dti30 dti20 dti10 hardi30 hardi20 hardi10 ms30 ms20 ms10; do scored $d m2; scored $d m3 --model 3; scored $d m3wide --model 3 --ratio-mean 0.2 --ratio-std 0.1; scored $d m3rice --model 3 --noise rician; scored $d m2rice --noise rician; done
for r in 0.00005 0.0004 0.0006; do make dtir$r dti 20 --geometry $isbi --radial-d $r --grey-d 0.0008; make h10r$r hardi 10 --geometry $isbi --radial-d $r --grey-d 0.0008
  for d in dtir$r h10r$r; do scored $d m2; scored $d m3 --model 3; scored $d m3wide --model 3 --ratio-mean 0.2 --ratio-std 0.1; scored $d m1f2 --model 1 --fibres 2; done; scored msr$r m3wide --model 3 --ratio-mean 0.2 --ratio-std 0.1; scored msr$r m3wide15 --model 3 --ratio-mean 0.15 --ratio-std 0.1; done
make dtirestricted dti 20 --geometry $isbi --tissue restricted; make h10restricted hardi 10 --geometry $isbi --tissue restricted
for d in dtirestricted h10restricted; do scored $d m2; scored $d m3 --model 3; scored $d m3wide --model 3 --ratio-mean 0.2 --ratio-std 0.1; scored $d m1f2 --model 1 --fibres 2; done
for m in 2 3; do scored hardi10 m${m}rice --model $m --noise rician; done
for w in 0.7 0.8 0.9; do scored hardi10 m3rice.w$w --model 3 --noise rician --ard-weight $w; done
for w in 1.2 1.5 2; do scored dti20 w$w --ard-weight $w; done
scored dti20 m1f2rice --model 1 --fibres 2 --noise rician; scored dti20 m2rice --noise rician
for d in dti30 dti20 dti10 hardi30 hardi20 hardi10 ms30 ms20 ms10; do for o in 3 5 7; do scored $d odds$o --fibre-odds $o; done
  scored $d m3wide.odds5 --model 3 --ratio-mean 0.2 --ratio-std 0.1 --fibre-odds 5; scored $d m1.odds5 --model 1 --fibre-odds 5; scored $d rice.odds5 --noise rician --fibre-odds 5
  for n in 2 3; do scored $d noard$n --no-ard --fibres $n; done; done
for r in 0.00005 0.0004 0.0006; do for d in msr$r dtir$r h10r$r; do scored $d odds5 --fibre-odds 5; done; done
for d in msrestricted dtirestricted h10restricted hrestricted; do scored $d odds5 --fibre-odds 5; done
make hcp25 hcp 25 --geometry $isbi; make hcprestricted hcp 25 --geometry $isbi --tissue restricted
for r in 0.00005 0.0004 0.0006; do make hcpr$r hcp 25 --geometry $isbi --radial-d $r --grey-d 0.0008; done
for d in hcp25 hcpr0.00005 hcpr0.0004 hcpr0.0006 hcprestricted; do scored $d m2; scored $d m3 --model 3; scored $d odds5 --fibre-odds 5
  scored $d m3wide --model 3 --ratio-mean 0.2 --ratio-std 0.1; done
scored hardi10 odds1 --fibre-odds 1; scored hardi10 odds0 --fibre-odds 0
# 4. Calibration of exact ball & stick: 8,000 voxels of one fibre
for k in gaussian rician; do make one.$k hardi 30 --crossings 90 --fibres 1 --size 20x20x20 --noise $k; done
f="nodif_brain_mask.nii.gz"
fit one.gaussian gauss $f --model 1 --fibres 1; fit one.rician gauss $f --model 1 --fibres 1
fit one.rician rice $f --model 1 --fibres 1 --noise rician; fit one.gaussian m2f3 $f; fit one.gaussian m2f1 $f --fibres 1
fit one.rician m2f3rice $f --noise rician; fit one.rician rice.long $f --model 1 --fibres 1 --noise rician --burn-in 5000 --jumps 12500 --sample-every 250
fit one.gaussian m1f3 $f --model 1; fit one.gaussian gauss.long $f --model 1 --fibres 1 --burn-in 5000 --jumps 12500 --sample-every 250
# 6. Tracks
for seed in 1 2 3; do for d in hardi10 hardi30 ms20; do make $d.s$seed ${d%??} ${d: -2} --geometry $isbi --random-seed $seed
  for m in "default" "m3 --model 3" "noard --no-ard" "noard2 --no-ard --fibres 2" "odds5 --fibre-odds 5" "odds1 --fibre-odds 1"; do late && continue
  set -- $m; n=$d.s$seed.$1; shift; dir=$d.s$seed
  "$VOXHERD" ballstick --dwi $dir/data.nii --bvals $dir/bvals --bvecs $dir/bvecs --mask $dir/white_matter.nii.gz "$@" --out wm.h5 --overwrite --backend $backend --quiet &&
  "$VOXHERD" track --samples wm.h5 --connectome $dir/truth/ends.nii.gz --loop-check on --samples-per-seed 100 --out track.h5 --overwrite --backend $backend --quiet &&
  "$VOXHERD" phantom score track.h5 --truth $dir --json "$OUT/$n.track.json" --overwrite; done; done; done
# 7. Geodesics
geo() { local d=$1 n=$2; shift 2; late && return
  "$VOXHERD" geodesic --dwi $d/data.nii --bvals $d/bvals --bvecs $d/bvecs --mask $d/white_matter.nii.gz --connectome $d/truth/ends.nii.gz \
    --seed-image $d/white_matter.nii.gz --out $d.$n.h5 --overwrite --backend $backend --quiet "$@" &&
  "$VOXHERD" phantom score $d.$n.h5 --truth $d --json "$OUT/$d.geo.$n.json" --overwrite; echo "geodesic $d $n: $SECONDS s"; }
geo dti30 default; geo dti30 streamline --form streamline
geo dti30 phantomcfg --metric jeong --alpha 3 --smooth 1 --max-drift 0.05 --directions 256
geo hardi30 finsler4 --form finsler4; geo hardi30 finsler4.two --form finsler4 --directions 256
geo hardi30 finsler4.smooth --form finsler4 --smooth 0.7; geo hardi30 finsler4.drift --form finsler4 --max-drift 0.05; geo hardi30 finsler4.step --form finsler4 --step 0.5
geo hardi30 streamline --form streamline; geo hardi30 inverse --smooth 0 --directions 256
geo hardi30 jeong --metric jeong --alpha 3 --smooth 1 --max-drift 0.05 --directions 256; geo hardi30 finsler4.1024 --form finsler4 --directions 1024
for d in hardi30 hardi20 hardi10 dti30; do late && continue
  "$VOXHERD" ballstick --dwi $d/data.nii --bvals $d/bvals --bvecs $d/bvecs --mask $d/white_matter.nii.gz --out $d.fibres.h5 --overwrite --backend $backend --quiet
  for n in 256 1024; do "$VOXHERD" geodesic --tensor $d.fibres.h5 --mask $d/white_matter.nii.gz --connectome $d/truth/ends.nii.gz --seed-image $d/white_matter.nii.gz \
    --smooth 0 --directions $n --out $d.geodesic.h5 --overwrite --backend $backend --quiet &&
    "$VOXHERD" phantom score $d.geodesic.h5 --truth $d --json "$OUT/$d.geo.fibres$n.json" --overwrite; done; done
nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null; echo "done: $SECONDS s"
