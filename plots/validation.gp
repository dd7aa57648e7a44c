# plots/validation.gp: simulated against published steps (above), and how far each is off (below). Before it come heading, the
# margins in pixels (width, height, left, right, top, split_top, split_bottom, bottom), low and high (s, of both axes), band,
# down and up (%), marks and ticks of the axes, labels of points, and the data: names[i] and $source1, ..., $headline: published,
# simulated, error, number of the source; headline (how many).
colour(i) = int(word('0x4a86cc 0xdf9626 0x3d9970 0xb5523b 0x7d5ba6 0x2aa3b5 0xc2528b 0x8a7a2e 0x94a63c 0x5c6b73 0xd98880 0x1b4965 0xa67c52 0x6f9ceb 0x333333', int(i)))
shape(i) = int(word('7 5 9 13 11', (int(i) - 1) % 5 + 1))
size(i) = shape(i) == 7 || shape(i) == 5 ? 0.8 : 1.0
veil = 0x40000000
$band << EOD
EOD
set print $band
print sprintf('%.9g %.9g %.9g', low, low * (1 - band), low * (1 + band))
print sprintf('%.9g %.9g %.9g', high, high * (1 - band), high * (1 + band))
set print
set multiplot
set lmargin at screen left / width
set rmargin at screen 1 - right / width
set border 3 lc rgb '#666666'
set logscale xy
set xrange [low:high]
set tics nomirror scale 0.6, 0.3
set xtics tc rgb '#333333'
set ytics tc rgb '#333333'
set grid xtics ytics lt 1 lw 0.5 lc rgb '#40808080'
set style fill solid 1 noborder

set tmargin at screen 1 - top / height
set bmargin at screen 1 - split_top / height
set yrange [low:high]
set title heading font 'sans-serif,14' tc rgb '#111111'
set ylabel 'simulated step' tc rgb '#333333'
eval 'set xtics '.marks
eval 'set ytics '.ticks
set key at screen 1 - right / width + 0.015, screen 1 - top / height left top Left reverse samplen 1 width 0 spacing 1.1 font 'sans-serif,11'
plot $band using 1:2:3 with filledcurves lc rgb '#dfe9e2' notitle, \
     $band using 1:1 with lines lw 1 lc rgb '#4d6b57' notitle, \
     for [i = 1:sources] '$source'.i using 1:2 with points pt shape(i) ps size(i) lc rgb colour(i) + veil notitle, \
     $headline using 1:2:(shape($4)) with points pt variable ps 2 lc rgb '#111111' notitle, \
     $headline using 1:2:(shape($4)):(colour($4)) with points pt variable ps 1.5 lc rgb variable notitle, \
     keyentry with points pt 7 ps 0 lc rgb '#ffffff' title 'source: runs within 10 %', \
     for [i = 1:sources] keyentry with points pt shape(i) ps 1.1 lc rgb colour(i) title names[i], \
     for [i = 1:headline > 0] keyentry with points pt 6 ps 1.8 lw 2 lc rgb '#111111' title 'headline: never fitted to', \
     keyentry with boxes fs solid noborder lc rgb '#cfdfd4' title 'within 10 %'
unset title
unset label
unset arrow
unset key

set tmargin at screen 1 - split_bottom / height
set bmargin at screen bottom / height
unset logscale y
set yrange [down:up]
eval 'set xtics '.ticks
every = up - down > 90 ? 20 : 10
percents = ''
do for [i = ceil(1.0 * down / every):floor(1.0 * up / every)] {
    percents = percents.sprintf(i == 0 ? "%s'%.0f %%%%' 0" : "%s'%+.0f %%%%' %.0f", percents eq '' ? '' : ', ', i * every, i * every)
}
eval 'set ytics ('.percents.')'
set ylabel 'simulated / published - 1' tc rgb '#333333'
set xlabel 'published step' tc rgb '#333333'
plot $band using 1:(-100 * band):(100 * band) with filledcurves lc rgb '#dfe9e2' notitle, \
     $band using 1:(0) with lines lw 1 lc rgb '#4d6b57' notitle, \
     for [i = 1:sources] '$source'.i using 1:3 with points pt shape(i) ps size(i) lc rgb colour(i) + veil notitle, \
     $headline using 1:3:(shape($4)) with points pt variable ps 2 lc rgb '#111111' notitle, \
     $headline using 1:3:(shape($4)):(colour($4)) with points pt variable ps 1.5 lc rgb variable notitle
unset multiplot
