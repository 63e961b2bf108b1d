@problemName One
@classLabel false
@data
1,2.5,-3e-2
4,5
